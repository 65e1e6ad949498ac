-- A change to read: files with the text before and after, compared line by line.

Review = session:prototype("Review", { title = "", at = 1, line = 0, draft = "", verdict = "", files = EMPTY, comments = EMPTY })

local BEFORE = [[
def total(items):
    sum = 0
    for i in range(len(items)):
        sum = sum + items[i].price
    return sum

def apply_discount(total, percent):
    return total - total * percent / 100
]]
local AFTER = [[
def total(items: list[Item]) -> Decimal:
    """Return the price of all items."""
    return sum((item.price for item in items), Decimal(0))

def apply_discount(total: Decimal, percent: int) -> Decimal:
    if not 0 <= percent <= 100:
        raise ValueError(f"no such discount: {percent} %")
    return total - total * percent / 100
]]
local TEST = [[
def test_a_discount_is_taken_off():
    assert apply_discount(Decimal(200), 10) == Decimal(180)

def test_no_discount_is_over_100():
    with pytest.raises(ValueError):
        apply_discount(Decimal(1), 101)
]]

local function lines_of(text)
    local found = {}
    for line in text:gmatch("([^\n]*)\n?") do found[#found + 1] = line end
    while found[#found] == "" do found[#found] = nil end
    return found
end

-- The lines of both texts in order: kept, removed or added, by the longest common subsequence.
local function compare(before, after)
    local old, new, best = lines_of(before), lines_of(after), {}
    for i = #old + 1, 1, -1 do
        best[i] = {}
        for j = #new + 1, 1, -1 do
            if i > #old or j > #new then best[i][j] = 0
            elseif old[i] == new[j] then best[i][j] = best[i + 1][j + 1] + 1
            else best[i][j] = math.max(best[i + 1][j], best[i][j + 1]) end
        end
    end
    local found, i, j = {}, 1, 1
    while i <= #old or j <= #new do
        if i <= #old and j <= #new and old[i] == new[j] then
            found[#found + 1] = { old = i, new = j, mark = "", text = old[i] }
            i, j = i + 1, j + 1
        elseif j > #new or (i <= #old and best[i + 1][j] >= best[i][j + 1]) then
            found[#found + 1] = { old = i, mark = "−", text = old[i], removed = true }
            i = i + 1
        else
            found[#found + 1] = { new = j, mark = "+", text = new[j], added = true }
            j = j + 1
        end
    end
    return found
end

function Review:new()
    local app = session:create(Review, { files = {}, comments = {} })
    app:load("Check discounts, add types", {
        { path = "shop/prices.py", before = BEFORE, after = AFTER },
        { path = "tests/test_prices.py", before = "", after = TEST },
        { path = "CHANGELOG.md", before = "# Changes\n\n- Faster search.\n", after = "# Changes\n\n- Discounts are checked.\n- Faster search.\n" },
    })
    return app
end

function Review:load(title, files)
    self.title, self.files, self.comments, self.at, self.line, self.verdict = title, {}, {}, 1, 0, ""
    for at, file in ipairs(files) do
        local lines, added, removed = compare(file.before or "", file.after or ""), 0, 0
        for _, line in ipairs(lines) do
            if line.added then added = added + 1 elseif line.removed then removed = removed + 1 end
        end
        self.files[at] = { path = file.path, lines = lines, size = "+" .. added .. " −" .. removed, read = false }
    end
end

function Review:file() return self.files[self.at] end
function Review:open(at) self.at, self.line = at, 0 end
function Review:isOpen(at) return at == self.at and "true" or nil end

function Review:shownFiles()
    local found = {}
    for at, file in ipairs(self.files) do
        found[at] = { number = at, path = file.path, size = file.size, current = self:isOpen(at), state = file.read and "✓ read" or "" }
    end
    return found
end

-- The lines of the open file, each with its comments.
function Review:lines()
    local found = {}
    for at, line in ipairs(self:file().lines) do
        local comments = {}
        for _, comment in ipairs(self.comments) do
            if comment.file == self.at and comment.line == at then comments[#comments + 1] = comment end
        end
        found[at] = {
            number = at, old = line.old, new = line.new, mark = line.mark, text = line.text,
            added = line.added, removed = line.removed, comments = comments, writing = self.line == at,
        }
    end
    return found
end

function Review:write(line)
    self.line, self.draft = self.line == line and 0 or line, ""
end

function Review:comment()
    if self.draft == "" or self.line == 0 then return end
    table.insert(self.comments, { file = self.at, line = self.line, path = self:file().path, code = self:file().lines[self.line].text, text = self.draft })
    self.line, self.draft = 0, ""
end

function Review:markRead()
    self:file().read = true
    if self.at < #self.files then self:open(self.at + 1) end
end

function Review:summary()
    local read = 0
    for _, file in ipairs(self.files) do if file.read then read = read + 1 end end
    return read .. " of " .. #self.files .. " files read, " .. #self.comments .. " comments"
end

function Review:decide(verdict)
    self.verdict = verdict == "approve" and "You approved this change." or "You asked for changes."
    mcp.pushState({ app = "review", event = "verdict", verdict = verdict, comments = self.comments })
end

function Review:address() return self:file().path end
function Review:visit(path)
    for at, file in ipairs(self.files) do if file.path == path then self:open(at) end end
end

if not session.reloading then review = Review:new() end
