package postgres

import (
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// statement is what travels to the server: a call by itself, or all calls of a batch that share one. The parameters of a shared statement are
// columns, with an entry for each call, and each of its rows begins with the number of the call that it is for, counted from 1. To
// start a statement costs the server and the client more than to answer one call with it.
type statement []*call

// numbered is the number of a call in a shared statement. Columns are unfolded by what is selected, side by side: in a from clause each is
// written to a table in memory first, and what that takes is given back to the system at the end of the statement.
const numbered = "generate_subscripts($1::bytea[], 1)::bigint as n"

// share puts the calls of a batch into statements, in the order of their first calls.
func share(batch []*call) []statement {
	var all []statement
	at := make(map[string]int)
	for _, c := range batch {
		i, known := at[c.sql]
		if c.shared && known {
			all[i] = append(all[i], c)
			continue
		}
		at[c.sql] = len(all)
		all = append(all, statement{c})
	}
	return all
}

// args returns the parameters of the statement. Those of a shared one are names and numbers.
func (st statement) args() []any {
	if !st[0].shared {
		return st[0].args
	}
	columns := make([]any, len(st[0].args))
	for i, first := range st[0].args {
		if _, isName := first.([]byte); isName {
			columns[i] = column[[]byte](st, i)
		} else {
			columns[i] = column[int64](st, i)
		}
	}
	return columns
}

func column[T any](st statement, i int) []T {
	all := make([]T, 0, len(st))
	for _, c := range st {
		all = append(all, c.args[i].(T))
	}
	return all
}

// read gives each row to the call that it is for.
func (st statement) read(results pgx.BatchResults) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		c, r := st[0], values(rows.RawValues())
		if c.shared {
			var n int64
			if err := r[:1].scan(&n); err != nil {
				return err
			}
			c, r = st[n-1], r[1:]
		}
		c.rows = append(c.rows, r.clone())
	}
	return rows.Err()
}

// values is a row as the server sent it, in its binary form.
type values [][]byte

// clone copies the row, whose bytes are the connection's, into one piece of memory.
func (r values) clone() values {
	size := 0
	for _, v := range r {
		size += len(v)
	}
	all := make([]byte, 0, size)
	out := make(values, len(r))
	for i, v := range r {
		if v == nil {
			continue // null
		}
		start := len(all)
		all = append(all, v...)
		out[i] = all[start:len(all):len(all)]
	}
	return out
}

// scan takes numbers into *int64, *int16 or, where there may be none, **int64, and bytes, which stay the row's, into *[]byte.
func (r values) scan(into ...any) error {
	if len(into) != len(r) {
		return fmt.Errorf("scan a row of %d values into %d", len(r), len(into))
	}
	for i, to := range into {
		if err := scan(r[i], to); err != nil {
			return fmt.Errorf("scan value %d: %w", i, err)
		}
	}
	return nil
}

func scan(value []byte, into any) error {
	switch to := into.(type) {
	case *[]byte:
		*to = value
		return nil
	case *int64:
		if len(value) == 8 {
			*to = int64(binary.BigEndian.Uint64(value))
			return nil
		}
	case **int64:
		if *to = nil; value == nil {
			return nil
		}
		*to = new(int64)
		return scan(value, *to)
	case *int16:
		if len(value) == 2 {
			*to = int16(binary.BigEndian.Uint16(value))
			return nil
		}
	}
	return fmt.Errorf("%d bytes are no %T", len(value), into)
}
