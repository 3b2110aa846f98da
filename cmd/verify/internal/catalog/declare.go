package catalog

import (
	"bytes"
	"go/ast"
	"go/printer"
	"strings"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// readDeclarations finds the calls of inventory.Owner and inventory.Planted in a var declaration.
func (l *loader) readDeclarations(dir, alias string, decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		values, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for _, value := range values.Values {
			call, name := inventoryCall(value, alias)
			switch name {
			case "Owner":
				l.readOwner(dir, alias, call)
			case "Planted":
				l.readPlanted(call)
			}
		}
	}
}

// inventoryCall returns the call and the name of the function of package inventory that it calls.
func inventoryCall(e ast.Expr, alias string) (*ast.CallExpr, string) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return nil, ""
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, ""
	}
	if x, ok := selector.X.(*ast.Ident); !ok || x.Name != alias {
		return nil, ""
	}
	return call, selector.Sel.Name
}

func (l *loader) readOwner(dir, alias string, call *ast.CallExpr) {
	at := l.position(call.Pos())
	if len(call.Args) < 3 {
		l.catalog.fault(at, "owner needs an id, a title and a type")
		return
	}
	texts, ok := l.texts(call.Args[:2])
	if !ok {
		return
	}
	o := Owner{
		ID: texts[0], Title: texts[1], Type: l.source(call.Args[2]), Dir: dir, At: at,
		Checks: map[inventory.Lane][]string{}, Reasons: map[inventory.Lane]string{},
	}
	for _, arg := range call.Args[3:] {
		l.readPart(&o, alias, arg)
	}
	l.catalog.Owners = append(l.catalog.Owners, o)
}

func (l *loader) readPart(o *Owner, alias string, arg ast.Expr) {
	call, name := inventoryCall(arg, alias)
	if call == nil {
		l.catalog.fault(l.position(arg.Pos()), "owner %s: %s is not a call of package inventory", o.ID, l.source(arg))
		return
	}
	if lane, ok := inventory.LaneOfCall(name); ok {
		l.readChecks(o, lane, call)
		return
	}
	switch name {
	case "Reason":
		l.readReason(o, alias, call)
	case "Mutant":
		l.readMutant(o, alias, call)
	default:
		l.catalog.fault(l.position(arg.Pos()), "owner %s: inventory.%s has no meaning here", o.ID, name)
	}
}

func (l *loader) readChecks(o *Owner, lane inventory.Lane, call *ast.CallExpr) {
	ids, ok := l.texts(call.Args)
	if !ok {
		return
	}
	if len(ids) == 0 {
		l.catalog.fault(l.position(call.Pos()), "owner %s: lane %s is declared with no check", o.ID, lane)
	}
	o.Checks[lane] = append(o.Checks[lane], ids...)
	for i, id := range ids {
		l.catalog.Checks = append(l.catalog.Checks,
			Check{ID: id, Lane: lane, Owner: o.ID, At: l.position(call.Args[i].Pos())})
	}
}

func (l *loader) readPlanted(call *ast.CallExpr) {
	texts, ok := l.texts(call.Args)
	if !ok || len(texts) != 2 {
		return
	}
	l.catalog.Checks = append(l.catalog.Checks, Check{ID: texts[0], At: l.position(call.Pos())})
}

func (l *loader) readReason(o *Owner, alias string, call *ast.CallExpr) {
	at := l.position(call.Pos())
	if len(call.Args) != 2 {
		return // does not compile
	}
	lane := l.lane(alias, call.Args[0])
	why, ok := stringLiteral(call.Args[1])
	switch {
	case lane == "":
		l.catalog.fault(at, "owner %s: %s is no lane of package inventory", o.ID, l.source(call.Args[0]))
	case !ok || strings.TrimSpace(why) == "":
		l.catalog.fault(at, "owner %s: the reason for lane %s must be a literal that says something", o.ID, lane)
	default:
		o.Reasons[lane] = why
	}
}

// lane reads inventory.LaneSim and its like.
func (l *loader) lane(alias string, e ast.Expr) inventory.Lane {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := selector.X.(*ast.Ident); !ok || x.Name != alias {
		return ""
	}
	call, ok := strings.CutPrefix(selector.Sel.Name, "Lane")
	if !ok {
		return ""
	}
	lane, _ := inventory.LaneOfCall(call)
	return lane
}

func (l *loader) readMutant(o *Owner, alias string, call *ast.CallExpr) {
	at := l.position(call.Pos())
	if len(call.Args) < 3 {
		return // does not compile
	}
	texts, ok := l.texts(call.Args[:2])
	if !ok {
		return
	}
	m := Mutant{Owner: o.ID, Name: texts[0], What: texts[1], Dir: o.Dir, At: at}
	for _, arg := range call.Args[2:] {
		rejection, name := inventoryCall(arg, alias)
		if name != "RejectedBy" {
			l.catalog.fault(l.position(arg.Pos()), "mutant %s: %s is not inventory.RejectedBy", m.ID(), l.source(arg))
			continue
		}
		if expects, ok := l.texts(rejection.Args); ok && len(expects) == 2 {
			m.Expects = append(m.Expects, inventory.Rejection{Check: expects[0], Verdict: expects[1]})
		}
	}
	o.Mutants = append(o.Mutants, m)
}

// texts returns the values of arguments that must be string literals, and faults each that is not.
func (l *loader) texts(args []ast.Expr) ([]string, bool) {
	var values []string
	good := true
	for _, arg := range args {
		value, ok := stringLiteral(arg)
		if !ok {
			l.catalog.fault(l.position(arg.Pos()), "%s is not a string literal", l.source(arg))
			good = false
		}
		values = append(values, value)
	}
	return values, good
}

func (l *loader) source(e ast.Expr) string {
	var text bytes.Buffer
	if err := printer.Fprint(&text, l.files, e); err != nil {
		return "expression"
	}
	return text.String()
}
