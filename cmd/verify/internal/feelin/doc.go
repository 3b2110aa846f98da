// Package feelin compares package core/feel with another implementation of FEEL, the npm package feelin: expressions drawn by a seed are
// evaluated by both.
package feelin
