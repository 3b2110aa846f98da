package syntax

import (
	"fmt"
	"reflect"
	"strings"
)

// Same reports whether two modules have the same tree, apart from places, comments and parentheses.
func Same(a, b *Module) bool { return dump(a) == dump(b) }

func dump(m *Module) string {
	var b strings.Builder
	write(&b, reflect.ValueOf(*m))
	return b.String()
}

func write(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		if p, ok := v.Interface().(*Paren); ok {
			write(b, reflect.ValueOf(p.X))
			return
		}
		write(b, v.Elem())
	case reflect.Slice:
		b.WriteString("[")
		for i := range v.Len() {
			write(b, v.Index(i))
			b.WriteString(" ")
		}
		b.WriteString("]")
	case reflect.Struct:
		b.WriteString(v.Type().Name() + "{")
		for i := range v.NumField() {
			switch v.Type().Field(i).Name {
			case "P", "Pos", "Node", "Decl", "Comments", "File", "Strings":
				continue
			}
			write(b, v.Field(i))
			b.WriteString(";")
		}
		b.WriteString("}")
	default:
		fmt.Fprintf(b, "%q", fmt.Sprint(v.Interface()))
	}
}
