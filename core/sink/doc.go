// Package sink is where batches leave the record plane.
//
// A file sink stages rows with the unit that their batch commits with, and a [Point] writes, syncs and commits units
// together with the keys of the deduplicator that let the rows pass: one synced commit of keys and file lengths
// decides what is in the file. A [Payload] follows the rows of one delivery through a sink that may have to send
// them more than once; package post is the HTTP sink on top of it. Files are reached through package vfs.
//
// Owner here: G6, the sink's payload, and beside it the commit point of the file sink.
package sink
