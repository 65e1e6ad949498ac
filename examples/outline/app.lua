-- Lists inside lists: an outline of any depth that one viewdef renders.

Topic = session:prototype("Topic", {
    title = "",
    topics = EMPTY,
    open = true,
})

function Topic:new(topic)
    topic = session:create(Topic, topic)
    topic.topics = topic.topics or {}
    return topic
end

function Topic:toggle()
    self.open = not self.open
end

function Topic:closed()
    return not self.open
end

function Topic:leaf()
    return #self.topics == 0
end

function Topic:add()
    table.insert(self.topics, Topic:new({ title = self.title .. "." .. (#self.topics + 1) }))
    self.open = true
end

function Topic:count()
    local count = 1
    for _, topic in ipairs(self.topics) do
        count = count + topic:count()
    end
    return count
end

Outline = session:prototype("Outline", { root = EMPTY })

function Outline:total()
    return self.root:count() .. " topics"
end

function Outline:reverse()
    local topics = self.root.topics
    for index = 1, math.floor(#topics / 2) do
        topics[index], topics[#topics - index + 1] = topics[#topics - index + 1], topics[index]
    end
end

if not session.reloading then
    local function branch(title, depth)
        local topics = {}
        for index = 1, depth > 0 and 3 or 0 do
            topics[index] = branch(title .. "." .. index, depth - 1)
        end
        return Topic:new({ title = title, topics = topics })
    end
    outline = Outline:new({ root = branch("1", 3) })
end
