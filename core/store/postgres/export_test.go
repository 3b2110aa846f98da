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

// Together brings statements to the server in one round trip, as a worker of the pipeline does with calls that have come meanwhile, and
// returns the rows and the error of each.
func (s *Store) Together(statements ...string) (rows []int, errs []error) {
	batch := make([]*call, len(statements))
	for i, sql := range statements {
		batch[i] = &call{sql: sql, done: make(chan struct{})}
	}
	s.pipe.answer(append([]*call{}, batch...))
	for _, c := range batch {
		<-c.done
		rows, errs = append(rows, len(c.rows)), append(errs, c.err)
	}
	return rows, errs
}
