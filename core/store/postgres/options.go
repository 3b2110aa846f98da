package postgres

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Options configure a store.
type Options struct {
	// URL says how to connect, as a URL or as key=value pairs. It may hold a password: it is in no error and in no log. Required.
	URL string

	// Schema is where the tables are. It is created. Lower-case letters, digits and underscores. "" is millrace.
	Schema string

	// Connections bounds the connections to the server. One in eight, but one at least, carries reads and claims: few, because
	// what waits for one shares its round trip. The others carry commits; one more listens for what other replicas tell. 0 is 8. Range 2 to 1000.
	Connections int

	// Timeout bounds each statement. What has not been answered by then has an unknown outcome. 0 is 10 s. Range 100 ms to
	// 10 min.
	Timeout time.Duration

	// Failpoint is called with the names store.PointBeforeApply and PointAfterSync around every commit of steps. Nil does
	// nothing. A test of crashes ends the process there.
	Failpoint func(name string)
}

const (
	minConnections = 2
	maxConnections = 1000
	minTimeout     = 100 * time.Millisecond
	maxTimeout     = 10 * time.Minute
)

var schemaPattern = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Validate joins every fault of the options.
func (o Options) Validate() error {
	o = o.withDefaults()
	var faults []error
	if o.URL == "" {
		faults = append(faults, errors.New("url: empty"))
	} else if _, err := pgxpool.ParseConfig(o.URL); err != nil {
		// What is wrong is not said: parsers quote what they cannot read, and that may be the password.
		faults = append(faults, errors.New("url: neither a URL like postgres://user@host:5432/database nor key=value pairs; "+
			"it is not shown because it may hold a password"))
	}
	if !schemaPattern.MatchString(o.Schema) {
		faults = append(faults, fmt.Errorf("schema: %q does not match %v", o.Schema, schemaPattern))
	}
	if o.Connections < minConnections || o.Connections > maxConnections {
		faults = append(faults, fmt.Errorf("connections: %d is not in %d..%d", o.Connections, minConnections, maxConnections))
	}
	if o.Timeout < minTimeout || o.Timeout > maxTimeout {
		faults = append(faults, fmt.Errorf("timeout: %v is not in %v..%v", o.Timeout, minTimeout, maxTimeout))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.Schema == "" {
		o.Schema = "millrace"
	}
	if o.Connections == 0 {
		o.Connections = 8
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	return o
}

// settings are those of every session. The statements are few, small and known: each uses its index, whatever the statistics
// of a new table say, and no plan is made twice.
func (o Options) settings() map[string]string {
	return map[string]string{
		"application_name":    "millrace",
		"search_path":         o.Schema,
		"statement_timeout":   fmt.Sprint(o.Timeout.Milliseconds()),
		"synchronous_commit":  "on",
		"plan_cache_mode":     "force_generic_plan",
		"enable_seqscan":      "off",
		"enable_hashjoin":     "off",
		"enable_mergejoin":    "off",
		"jit":                 "off",
		"client_min_messages": "warning",
	}
}

// pool returns the configuration of a pool of n connections.
func (o Options) pool(n int) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, err
	}
	c.MaxConns, c.MinConns = int32(n), 0
	for name, value := range o.settings() { //order:each entry is set once
		c.ConnConfig.RuntimeParams[name] = value
	}
	return c, nil
}
