-- Boxes on a picture. Their places are in per cent of its width and height, so they fit it at any size.

Box = session:prototype("Annotator.Box", { label = "", kind = "object", x = 0, y = 0, w = 10, h = 10 })
Annotator = session:prototype("Annotator", { kind = "object", drawn = "", chosen = 0, boxes = EMPTY })

local COLOURS = { object = "#2563eb", person = "#c2410c", text = "#0f766e", defect = "#b91c1c" }

function Annotator:new()
    local app = session:create(Annotator, { boxes = session:store("boxes", Box) })
    if #app.boxes == 0 then
        table.insert(app.boxes, Box:new({ label = "Sun", kind = "object", x = 71, y = 8, w = 14, h = 22 }))
        table.insert(app.boxes, Box:new({ label = "House", kind = "object", x = 17, y = 41, w = 26, h = 40 }))
        table.insert(app.boxes, Box:new({ label = "Somebody at the window", kind = "person", x = 21, y = 58, w = 7, h = 11 }))
    end
    return app
end

local function within(number, least, most) return math.max(least, math.min(most, math.floor(number * 10 + 0.5) / 10)) end

-- The page has drawn a box: "x y w h" in per cent.
function Annotator:draw(text)
    local x, y, w, h = tostring(text):match("^([%d.]+) ([%d.]+) ([%d.]+) ([%d.]+)$")
    if not x then return end
    local box = Box:new({ kind = self.kind, label = "Box " .. #self.boxes + 1, x = within(x, 0, 99), y = within(y, 0, 99), w = within(w, 1, 100), h = within(h, 1, 100) })
    table.insert(self.boxes, box)
    self.chosen = #self.boxes
    mcp.pushState({ app = "annotator", event = "drawn", kind = box.kind, x = box.x, y = box.y, w = box.w, h = box.h })
end

function Annotator:shown()
    local found = {}
    for at, box in ipairs(self.boxes) do
        found[at] = {
            box = box, number = at, label = box.label, colour = COLOURS[box.kind], chosen = at == self.chosen and "true" or "false",
            left = box.x .. "%", top = box.y .. "%", width = box.w .. "%", height = box.h .. "%",
        }
    end
    return found
end

function Annotator:choose(number) self.chosen = number end

function Annotator:move(dx, dy)
    local box = self.boxes[self.chosen]
    if box then box.x, box.y = within(box.x + dx, 0, 100 - box.w), within(box.y + dy, 0, 100 - box.h) end
end

function Annotator:remove(row)
    for at, box in ipairs(self.boxes) do if box == row then table.remove(self.boxes, at) end end
    self.chosen = 0
end

function Annotator:table()
    local kind = { name = "kind", edit = true, options = "object|person|text|defect" }
    return { rows = self.boxes, columns = { { name = "label", edit = true, required = true }, kind, "x", "y", "w", "h" } }
end

function Annotator:json() return self.boxes:export("json") end

if not session.reloading then annotator = Annotator:new() end
