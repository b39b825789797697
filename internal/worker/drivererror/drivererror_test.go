package drivererror

import (
	"testing"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	for sentence, test := range map[string]struct{ description, code, message string }{
		"the format of machine-controller-manager": {
			"Cloud provider message - " + status.Error(codes.ResourceExhausted, "quota [cores] exceeded").Error(), "ResourceExhausted", "quota [cores] exceeded",
		},
		"a message that was cut":  {"machine codes error: code = [Internal] message = [half", "Internal", "half"},
		"a text without a code":   {"Cloud provider message - no code\nat all", "", "no code at all"},
		"a text of another form":  {"Drain in progress", "", "Drain in progress"},
		"a text beyond the limit": {"123456789012345678901234567890", "", "123456789012345678901 ..."},
		"no text":                 {},
	} {
		t.Run(sentence, func(t *testing.T) {
			code, message := Parse(test.description, 25)
			assert.Equal(t, test.code, code)
			assert.Equal(t, test.message, message)
		})
	}
}
