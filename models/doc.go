// Package models holds the sequential references that owners are compared with: what an owner must do when nothing
// happens at the same time. They are plain values without a scheduler, a clock or I/O.
package models
