-- Timers: an interval that ticks while the watch runs, and a timeout that forgets a message.

Stopwatch = session:prototype("Stopwatch", {
    ticks = 0,
    timer = EMPTY,
    laps = EMPTY,
    message = "",
})

function Stopwatch:running()
    return self.timer ~= nil
end

function Stopwatch:shown()
    return string.format("%.1f s", self.ticks / 10)
end

function Stopwatch:label()
    return self:running() and "Stop" or "Start"
end

function Stopwatch:toggle()
    if self.timer then
        session:clearInterval(self.timer)
        self.timer = nil
    else
        self.timer = session:setInterval(function() self.ticks = self.ticks + 1 end, 100)
    end
end

function Stopwatch:lap()
    self.laps = self.laps or {}
    table.insert(self.laps, { type = "Lap", number = #self.laps + 1, time = self:shown() })
    self.message = "Lap " .. #self.laps .. " taken"
    session:setTimeout(function() self.message = "" end, 1000)
end

function Stopwatch:reset()
    self.ticks, self.laps = 0, nil
end

if not session.reloading then
    stopwatch = Stopwatch:new()
end
