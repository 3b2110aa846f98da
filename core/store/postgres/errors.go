package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/millrace-dev/millrace/core/store"
)

// refusals are the codes of the functions' own errors (see functions).
var refusals = map[string]error{
	"MR001": store.ErrFenced,
	"MR002": store.ErrDuplicate,
	"MR003": store.ErrConflict,
	"MR004": store.ErrConflict,
	"MR005": store.ErrSuperseded,
}

// violations are what a violated key means.
var violations = map[string]error{
	"inbox_pkey":  store.ErrDuplicate,
	"waits_alias": store.ErrAlias,
	"waits_pkey":  store.ErrConflict,
}

const uniqueViolation = "23505"

// definite reports whether err says for certain that the transaction was rolled back, or never sent. A session that is ended
// (severity FATAL) may have ended between its commit and the answer.
func definite(err error) bool {
	var told *pgconn.PgError
	if errors.As(err, &told) {
		return told.SeverityUnlocalized == "ERROR"
	}
	return pgconn.SafeToRetry(err)
}

// outcome turns an error of a statement into one of package store. A read has no effect, so its outcome is never unknown.
func outcome(err error, writes bool) error {
	var told *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case writes && !definite(err):
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	case errors.As(err, &told) && refusals[told.Code] != nil:
		return refusals[told.Code]
	case errors.As(err, &told) && told.Code == uniqueViolation && violations[told.ConstraintName] != nil:
		return violations[told.ConstraintName]
	default:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
}
