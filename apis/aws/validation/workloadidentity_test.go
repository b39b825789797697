package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/apis/aws/validation"
)

func TestValidateWorkloadIdentity(t *testing.T) {
	const head, remedy = `{"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkloadIdentityConfig"`, "give the ARN of a role, like arn:aws:iam::123456789012:role/name"
	for sentence, test := range map[string]struct {
		document string
		want     []string
	}{
		"a role":           {head + `,"roleARN":"arn:aws:iam::123456789012:role/gardener"}`, nil},
		"no role":          {head + `}`, []string{"c.roleARN: Required value: " + remedy}},
		"no configuration": {``, []string{"c: Required value: give one with apiVersion aws.provider.extensions.gardener.cloud/v1alpha1 and kind WorkloadIdentityConfig"}},
		"a misspelt field, and so no role": {
			head + `,"roleArn":"arn:aws:iam::123456789012:role/gardener"}`,
			[]string{`c: Invalid value: decoding WorkloadIdentityConfig: unknown field "roleArn": correct the name or remove the field`, "c.roleARN: Required value: " + remedy},
		},
		"a role that is no text": {
			head + `,"roleARN":7}`, []string{"c: Invalid value: decoding WorkloadIdentityConfig: roleARN must be a string, not a JSON number: correct the value"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateWorkloadIdentity(&runtime.RawExtension{Raw: []byte(test.document)}, field.NewPath("c")))))
		})
	}
}

func TestValidateWorkloadIdentityConfig(t *testing.T) {
	const remedy = "give the ARN of a role, like arn:aws:iam::123456789012:role/name"
	for role, want := range map[string][]string{
		"arn:aws:iam::123456789012:role/gardener":          nil,
		"arn:aws-cn:iam::123456789012:role/a/path/to@role": nil,
		"":         {"c.roleARN: Required value: " + remedy},
		"gardener": {`c.roleARN: Invalid value: "gardener": ` + remedy},
		"arn:aws:iam::123456789012:user/gardener": {`c.roleARN: Invalid value: "arn:aws:iam::123456789012:user/gardener": ` + remedy},
		"arn:aws:iam::1234:role/gardener":         {`c.roleARN: Invalid value: "arn:aws:iam::1234:role/gardener": ` + remedy},
	} {
		t.Run(role, func(t *testing.T) {
			config := &v1alpha1.WorkloadIdentityConfig{RoleARN: role}
			assert.Empty(t, cmp.Diff(want, messages(validation.ValidateWorkloadIdentityConfig(config, field.NewPath("c")))))
		})
	}
}
