package postgres

// Shared are the statements that each step of an instance needs, by what they do, with the number of their parameters.
func Shared() map[string]Statement {
	return map[string]Statement{
		"read a head": {sqlHead, 1}, "take a claim": {sqlTake, 5}, "load": {sqlLoad, 5}, "resolve": {sqlResolve, 2}, "read a receipt": {sqlReceipt, 2},
	}
}

// Statement is the text of a statement.
type Statement struct {
	SQL    string
	Params int
}

// Settings are those of every session of the store.
func Settings(o Options) map[string]string { return o.withDefaults().settings() }
