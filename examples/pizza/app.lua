-- Selects whose options are lists: the second depends on the first.

Choice = session:prototype("Choice", { id = "", label = "" })

Dish = session:prototype("Dish", { id = "", label = "", sizes = EMPTY })

Pizza = session:prototype("Pizza", {
    dishes = EMPTY,
    dish = "",
    size = "",
})

function Pizza:chosen()
    for _, dish in ipairs(self.dishes) do
        if dish.id == self.dish then
            return dish
        end
    end
    return nil
end

function Pizza:sizes()
    local dish = self:chosen()
    return dish and dish.sizes or {}
end

-- Choosing another dish forgets a size that it does not come in.
function Pizza:choose(id)
    if id == nil then
        return self.dish
    end
    self.dish = id
    local fits = false
    for _, size in ipairs(self:sizes()) do
        fits = fits or size.id == self.size
    end
    self.size = fits and self.size or ""
end

function Pizza:incomplete()
    return self.dish == "" or self.size == ""
end

function Pizza:order()
    mcp.pushState({ app = "pizza", event = "order", dish = self.dish, size = self.size })
    self.dish, self.size = "", ""
end

if not session.reloading then
    local small = Choice:new({ id = "small", label = "26 cm" })
    local large = Choice:new({ id = "large", label = "32 cm" })
    local party = Choice:new({ id = "party", label = "For the whole table" })
    pizza = Pizza:new({
        dishes = {
            Dish:new({ id = "margherita", label = "Margherita", sizes = { small, large, party } }),
            Dish:new({ id = "funghi", label = "Funghi", sizes = { small, large } }),
        },
    })
end
