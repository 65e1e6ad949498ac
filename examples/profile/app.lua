-- Edit and cancel: the form works on a copy that is taken over or thrown away.

Person = session:prototype("Person", { name = "", city = "", newsletter = false })

function Person:copy()
    return Person:new({ name = self.name, city = self.city, newsletter = self.newsletter })
end

Profile = session:prototype("Profile", {
    person = EMPTY,
    draft = EMPTY,
    problem = "",
})

function Profile:edit()
    self.draft = self.person:copy()
    self.problem = ""
end

function Profile:cancel()
    self.draft = nil
end

function Profile:save()
    if self.draft.name == "" then
        self.problem = "A name is needed."
        return
    end
    self.person = self.draft
    self.draft = nil
    mcp.pushState({ app = "profile", event = "saved", name = self.person.name })
end

function Profile:editing()
    return self.draft ~= nil
end

function Profile:reading()
    return self.draft == nil
end

function Profile:fine()
    return self.problem == ""
end

if not session.reloading then
    profile = Profile:new({ person = Person:new({ name = "Ada", city = "London" }) })
end
