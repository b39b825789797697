package aws

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/record"
)

func TestState_NoteUpstream(t *testing.T) {
	for sentence, test := range map[string]struct {
		data map[string]string
		want string
	}{
		"a state of the upstream extension":      {map[string]string{"VPC": "vpc-1", "Zones/a/Suffix": "z0"}, "true"},
		"a state of Trellis":                     {map[string]string{"VPC": "vpc-1", "trellis.owners": `{"VPC":"own"}`}, ""},
		"a state of Trellis before any creation": {map[string]string{"trellis.nothing": "true"}, ""},
		"nothing":                                {nil, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			recorded := &state{record.New(recordKeys())}
			require.NoError(t, recorded.Decode(test.data))
			recorded.noteUpstream()
			recorded.noteUpstream()
			assert.Equal(t, test.want, recorded.Fact(awsv1alpha1.StateKeyAdopted))
		})
	}
}
