package feel

func contextBuiltins() []builtin {
	return []builtin{
		{name: "get value", params: "m, key | context, key", run: runGetValue},
		{name: "get entries", params: "m | context", run: runGetEntries},
		{name: "context put", params: "context, key, value | context, keys, value", run: runContextPut},
		{name: "context merge", params: "contexts | context...", run: runContextMerge},
		{name: "context", params: "entries", run: runContext},
		{name: "is defined", params: "value", lazy: isDefined},
		{name: "get or else", params: "value, default", run: runGetOrElse},
		{name: "is", params: "value1, value2", run: runIs},
	}
}

// isDefined tells a name or entry that is there, null included, from one that is not.
func isDefined(m *machine, n *callNode, e *env) Value {
	switch arg := n.args[0].(type) {
	case *nameNode:
		_, ok := m.resolve(arg.name, e)
		return Bool(ok || arg.builtin != nil)
	case *pathNode:
		value := m.eval(arg.value, e)
		if c, ok := value.(*Context); ok {
			_, found := c.Lookup(arg.name)
			return Bool(found)
		}
		return Bool(m.path(arg.position(), value, arg.name).Kind() != KindNull)
	default:
		return Bool(m.eval(arg, e).Kind() != KindNull)
	}
}

func runGetOrElse(c *call) Value {
	if c.given(0) {
		return c.args[0]
	}
	return c.args[1]
}

// runGetValue takes one key, or a list of keys that leads through nested contexts.
func runGetValue(c *call) Value {
	keys := c.list(1)
	if c.bad || len(keys) == 0 {
		return c.null("there is no key")
	}
	value := c.single(0)
	for _, key := range keys {
		from, isContext := value.(*Context)
		name, isText := key.(String)
		if !isContext || !isText {
			return c.null("cannot take a %s of a %s", key.Kind(), value.Kind())
		}
		found, ok := from.Lookup(string(name))
		if !ok {
			return c.null("the context has no entry %v", name)
		}
		value = found
	}
	return value
}

func runGetEntries(c *call) Value {
	from := c.context(0)
	list := make(List, 0, from.Len())
	for _, entry := range from.entries {
		list = append(list, NewContext(Entry{"key", String(entry.Key)}, Entry{"value", entry.Value}))
	}
	return c.made(list)
}

func runContextPut(c *call) Value {
	from, keys := c.context(0), c.list(1)
	if c.bad {
		return Null{}
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		name, ok := key.(String)
		if !ok {
			return c.null("a key is a %s, not a string", key.Kind())
		}
		names[i] = string(name)
	}
	if len(names) == 0 {
		return c.null("there is no key")
	}
	return c.put(from, names, c.args[2])
}

// put sets a value under a path of keys; contexts that are not there are made.
func (c *call) put(from *Context, keys []string, value Value) Value {
	if !c.m.charge(1 + from.Len()) {
		return Null{}
	}
	if len(keys) == 1 {
		return from.With(Entry{keys[0], value})
	}
	inner := &Context{}
	if found, ok := from.Lookup(keys[0]); ok {
		if inner, ok = found.(*Context); !ok {
			return c.null("the entry %q is a %s, not a context", keys[0], found.Kind())
		}
	}
	put := c.put(inner, keys[1:], value)
	if put.Kind() == KindNull {
		return put
	}
	return from.With(Entry{keys[0], put})
}

func runContextMerge(c *call) Value {
	var entries []Entry
	for _, item := range c.spread() {
		from, ok := item.(*Context)
		if !ok {
			return c.null("the list has a %s", item.Kind())
		}
		if !c.m.charge(from.Len()) {
			return Null{}
		}
		entries = append(entries, from.entries...)
	}
	if c.bad {
		return Null{}
	}
	return NewContext(entries...)
}

// runContext makes a context from a list of {key, value}.
func runContext(c *call) Value {
	merged := &Context{}
	var entries []Entry
	for _, item := range c.list(0) {
		from, ok := item.(*Context)
		if !ok {
			return c.null("the list has a %s", item.Kind())
		}
		key, _ := from.Lookup("key")
		value, ok := from.Lookup("value")
		name, isText := key.(String)
		if !ok || !isText {
			return c.null("an item has no string \"key\" or no \"value\"")
		}
		entries = append(entries, Entry{string(name), value})
	}
	if c.bad {
		return Null{}
	}
	if merged = NewContext(entries...); merged.Len() != len(entries) {
		return c.null("a key stands twice")
	}
	return merged
}

// runIs reports whether two values are the same element of the same domain: also times equal in their
// instant but with different zones are not.
func runIs(c *call) Value {
	a, b := c.args[0], c.args[1]
	if a.Kind() != b.Kind() {
		return Bool(false)
	}
	switch a.Kind() {
	case KindTime, KindDateTime:
		return Bool(a.String() == b.String())
	case KindFunction:
		return Bool(a == b)
	default:
		return c.m.equal(c.pos, a, b)
	}
}
