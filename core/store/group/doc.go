// Package group lets the steps of several lanes share one transaction of a store that can do that ([store.Groups]).
//
// Owner here: S3 [Store], a store whose Commit goes through leaders. It pays where a transaction costs much more than a step in
// it, as in PostgreSQL; the embedded store groups its syncs by itself.
package group
