-- Pages: each connection has its own variables over the shared objects.
local E = ...
local next, sort = next, table.sort

local connections = {}
E.connections = connections

function E.ops.open(conn)
  connections[conn] = { id = conn, out = {} }
end

function E.ops.close(conn)
  connections[conn] = nil
end

function E.ops.frame(conn, text)
  return "null"
end

function E.ops.refresh() end

function E.thaw() end

function E.settle()
  return {}
end
