package validation

import (
	"fmt"
	"regexp/syntax"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// maxExpressionSize is how many characters an expression may stand for, all repetitions written out. A name of OpenStack has 255, and a document has room
// for hundreds of expressions.
const maxExpressionSize = 5000

// validateSubnetPattern is for patterns of the length of a name.
func validateSubnetPattern(pattern string, path *field.Path) field.ErrorList {
	if source, isExpression := strings.CutPrefix(strings.TrimPrefix(pattern, "!"), "~"); isExpression {
		if parsed, err := syntax.Parse(source, syntax.Perl); err == nil && sizeOf(parsed) > maxExpressionSize {
			return field.ErrorList{field.Invalid(path, pattern, "repeats too much: shorten the repetitions in the regular expression behind the tilde, for example to .*")}
		}
	}
	if _, err := v1alpha1.ParseSubnetPattern(pattern); err != nil {
		return field.ErrorList{field.Invalid(path, pattern, fmt.Sprintf("correct the regular expression behind the tilde: %v", err))}
	}
	return nil
}

// sizeOf counts before anything is written out. The parser itself goes no deeper than 1000, and refuses what would be repeated more than 1000 times.
func sizeOf(expression *syntax.Regexp) int {
	size := 1
	switch expression.Op {
	case syntax.OpLiteral:
		size = len(expression.Rune)
	case syntax.OpRepeat, syntax.OpConcat, syntax.OpCapture:
		size = 0
	}
	for _, part := range expression.Sub {
		size += sizeOf(part)
	}
	if expression.Op == syntax.OpRepeat {
		size *= max(1, expression.Min, expression.Max)
	}
	return size
}
