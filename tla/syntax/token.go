package syntax

import (
	"fmt"
	"strings"
)

// Pos is a place in a module: one-based line and column (tabs advance to the next multiple of eight).
type Pos struct {
	Line, Col int
}

// String renders the place as line:column.
func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Kind classifies a token.
type Kind int

// Token kinds. A Symbol is an operator or punctuation in its canonical ASCII spelling; a Word is a
// reserved word.
const (
	EOF Kind = iota
	Ident
	Number
	String
	Symbol
	Word
	Separator // four or more dashes
	EndModule // four or more equal signs
)

// Token is one lexical element. Comments holds the comments between the previous token and this one.
type Token struct {
	Kind     Kind
	Text     string
	Pos      Pos
	Off, End int
	FirstOn  bool // first token on its line
	Comments []string
}

func (t Token) describe() string {
	switch t.Kind {
	case EOF:
		return "end of file"
	case String:
		return fmt.Sprintf("string %q", t.Text)
	case Separator:
		return "separator line ----"
	case EndModule:
		return "end of module ===="
	default:
		return "'" + t.Text + "'"
	}
}

// Error is one fault of a module with its place.
type Error struct {
	File string
	Pos  Pos
	Msg  string
}

// Error renders file:line:column: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%s: %s", e.File, e.Pos, e.Msg) }

// Errors is a list of faults in order of position.
type Errors []*Error

// Error renders one fault a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

var words = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS
		COROLLARY DEF DEFINE DEFS DOMAIN ELSE ENABLED EXCEPT EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA
		LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE
		STATE SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE VARIABLES WITH WITNESS`) {
		words[w] = true
	}
}

// canonical maps every spelling of an operator to one.
var canonical = map[string]string{
	"\\land": "/\\", "\\lor": "\\/", "\\lnot": "~", "\\neg": "~", "\\equiv": "<=>", "/=": "#",
	"\\leq": "<=", "=<": "<=", "\\geq": ">=", "\\union": "\\cup", "\\intersect": "\\cap",
	"\\times": "\\X", "\\circ": "\\o", "(+)": "\\oplus", "(-)": "\\ominus", "(.)": "\\odot",
	"(/)": "\\oslash", "(\\X)": "\\otimes", "∧": "/\\", "∨": "\\/", "¬": "~", "≡": "<=>", "⇔": "<=>",
	"⇒": "=>", "≠": "#", "≤": "<=", "≥": ">=", "∪": "\\cup", "∩": "\\cap", "×": "\\X", "∘": "\\o",
	"∈": "\\in", "∉": "\\notin", "⊆": "\\subseteq", "⊂": "\\subset", "⊇": "\\supseteq",
	"⊃": "\\supset", "∀": "\\A", "∃": "\\E", "⟨": "<<", "⟩": ">>", "⟩_": ">>_", "□": "[]", "◇": "<>",
	"↦": "|->", "→": "->", "←": "<-", "≜": "==", "↝": "~>", "⊕": "\\oplus", "⊖": "\\ominus",
	"⊗": "\\otimes", "⊘": "\\oslash", "⊙": "\\odot", "÷": "\\div", "⋅": "\\cdot", "·": "\\cdot",
	"●": "\\bullet", "★": "\\star", "⋆": "\\star", "≺": "\\prec", "≼": "\\preceq", "⪯": "\\preceq",
	"≻": "\\succ", "≽": "\\succeq", "⪰": "\\succeq", "⊏": "\\sqsubset", "⊑": "\\sqsubseteq",
	"⊐": "\\sqsupset", "⊒": "\\sqsupseteq", "⊓": "\\sqcap", "⊔": "\\sqcup", "⊎": "\\uplus",
	"≀": "\\wr", "∼": "\\sim", "≃": "\\simeq", "≈": "\\approx", "≅": "\\cong", "≐": "\\doteq",
	"∝": "\\propto", "≍": "\\asymp", "≪": "\\ll", "≫": "\\gg", "⊢": "|-", "⊣": "-|", "⊨": "|=",
	"⫤": "=|", "‥": "..", "…": "...", "‼": "!!", "⁇": "??", "∷": "::", "≔": ":=", "⩴": "::=",
	"◯": "\\bigcirc", "○": "\\bigcirc", "⇸": "-+->", "⁺": "^+", "′": "'", "‖": "||", "∖": "\\",
	"\\forall": "\\A", "\\exists": "\\E",
}

// symbols lists the ASCII spellings; the lexer takes the longest that matches.
var symbols = strings.Fields(`-+-> ::= <=> |-> ... ]_ >>_ (+) (-) (.) (/) (\X) -> <- == => =< <= >= /= /\ \/ ~>
	[] <> << >> .. :: := :> <: @@ !! ## $$ %% && ** ++ -- // ^^ ^+ ^* ^# || |- |= =| -| ?? -.
	= # < > + - * / \ ~ ' ^ | & $ % ! ? @ : , ( ) [ ] { } . ; _`)

// Fixity says where the operands of an operator stand.
type Fixity int

// Fixities.
const (
	Nonfix Fixity = iota
	Prefix
	Infix
	Postfix
)

type opInfo struct {
	low, high int
	left      bool
}

var (
	infixOps   = map[string]opInfo{}
	prefixOps  = map[string]opInfo{"-": {12, 12, false}, "~": {4, 4, false}, "ENABLED": {4, 15, false}, "UNCHANGED": {4, 15, false}, "[]": {4, 15, false}, "<>": {4, 15, false}, "SUBSET": {8, 8, false}, "UNION": {8, 8, false}, "DOMAIN": {9, 9, false}}
	postfixOps = map[string]opInfo{"'": {15, 15, false}, "^+": {15, 15, false}, "^*": {15, 15, false}, "^#": {15, 15, false}}
)

func init() {
	add := func(low, high int, left bool, names string) {
		for _, n := range strings.Fields(names) {
			infixOps[n] = opInfo{low, high, left}
		}
	}
	add(1, 1, false, "=>")
	add(2, 2, false, "-+-> <=> ~>")
	add(3, 3, true, "/\\ \\/")
	add(5, 5, false, `# = < > <= >= \in \notin \subset \subseteq \supset \supseteq \sqsubset \sqsubseteq
		\sqsupset \sqsupseteq \prec \preceq \succ \succeq \ll \gg \sim \simeq \approx \cong \doteq
		\propto \asymp |- |= -| =| ::= :=`)
	add(5, 14, true, `\cdot`)
	add(6, 6, true, "@@")
	add(7, 7, false, ":> <:")
	add(8, 8, false, `\`)
	add(8, 8, true, `\cup \cap`)
	add(9, 9, false, ".. ...")
	add(9, 13, true, `## $ $$ ?? \uplus \sqcap \sqcup`)
	add(9, 13, false, "!!")
	add(9, 14, false, `\wr`)
	add(10, 10, true, `+ ++ \oplus`)
	add(10, 11, false, "%")
	add(10, 11, true, "%% | ||")
	add(10, 13, true, `\X`)
	add(11, 11, true, `- -- \ominus`)
	add(13, 13, true, `& && \odot \otimes * ** \bigcirc \bullet \o \star`)
	add(13, 13, false, `\oslash / // \div`)
	add(14, 14, false, "^ ^^")
}
