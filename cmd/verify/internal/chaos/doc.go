// Package chaos runs several processes of a node on one PostgreSQL under faults and judges what its clients saw.
//
// A run has three parts. The world (world.go) starts a private database, one proxy (proxy.go) and one process for each replica, and
// carries out a plan of faults (plan.go) that a seed draws: SIGKILL, SIGSTOP beyond the claim timeout, database connections that are
// cut, delayed, muted and half-closed, an activation in the middle and a rolling restart. Clients (client.go, keys.go, worker.go)
// talk to all replicas over HTTP meanwhile and record every call and return (history.go). When the faults are over, the recorded
// history goes through porcupine (judge.go), and an end-to-end account compares acknowledgements, the rows of the database and
// what came out of the sinks (account.go).
//
// Here the claim SQL of the shared store is judged as it runs in production: simulations stand on the simulated store.
package chaos
