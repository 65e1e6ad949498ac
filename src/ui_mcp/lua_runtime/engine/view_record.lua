-- The record of a view: an array, because arrays are smaller and faster than tables with named fields.
-- Lua 5.2 has no constants: files that index records take these into locals, generated code writes the numbers.
local E = ...

E.view_record = {
  SHAPE = 1, -- the viewdef in its namespace, with its bindings; see shapes.lua
  OBJECT = 2, -- what the bindings read from
  NUMBER = 3, -- the view's number on the wire
  PARENT = 4, -- the view that contains this one, nil for the root
  POSITION = 5, -- the position in the parent's viewdef
  ROW = 6, -- the row in a list, from 0; nil outside lists
  UNSENT = 7, -- true until the page has got the view
  RARE = 8, -- what few views have: errors, wrappers, times, diagnostics; or nil
  CHANGES = 9, -- counts of changes by position, or nil
  FIRST_VALUE = 10, -- from here on: the values last read
}
