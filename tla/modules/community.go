package modules

import "github.com/millrace-dev/millrace/tla/eval"

func community() []*eval.Native { return nil }
