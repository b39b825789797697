package validation

import (
	"fmt"
	"regexp/syntax"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
)

// maxExpressionSize is the maximum number of characters of an expression with all repetitions expanded. A name in OpenStack has at most 255, and a
// document may have hundreds of expressions.
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

// sizeOf counts without expanding. The parser itself limits the depth to 1000, and repetitions to 1000.
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
