-- Runs first in every session, before the `mcp` table exists. A good place for what all your apps share.

-- The base of every prototype that names no other.
Object = session:prototype("Object", {})

-- How objects print: "a Contact", "an Order"; a prototype prints its bare type.
function Object:tostring()
    if rawget(self, "type") then return self.type end
    local article = self.type:match("^[AEIOU]") and "an " or "a "
    return article .. self.type
end

Object.__tostring = function(object) return object:tostring() end
