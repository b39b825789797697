package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/trellis-garden/trellis/apis/aws/validation"
)

// accessKey returns the data of a Secret with an access key, and further keys and values.
func accessKey(further ...string) map[string][]byte {
	data := map[string][]byte{"accessKeyID": []byte(strings.Repeat("A", 19) + "7"), "secretAccessKey": []byte(strings.Repeat("b", 38) + "/+")}
	for i := 0; i < len(further); i += 2 {
		if further[i+1] == "-" {
			delete(data, further[i])
			continue
		}
		data[further[i]] = []byte(further[i+1])
	}
	return data
}

func TestValidateCredentials(t *testing.T) {
	const (
		idRemedy     = "give the ID of an access key: 20 upper-case letters and digits, without a line break"
		secretRemedy = "give the secret of an access key: 40 letters, digits and any of / + =, without a line break"
		regionRemedy = "give a region, like eu-west-1, or remove the key"
	)
	id, secret := string(accessKey()["accessKeyID"]), string(accessKey()["secretAccessKey"])
	for sentence, test := range map[string]struct {
		data map[string][]byte
		want []string
	}{
		"an access key":   {accessKey(), nil},
		"with its region": {accessKey("region", "us-gov-west-1"), nil},
		"an empty region": {accessKey("region", ""), nil},
		"nothing": {
			nil,
			[]string{"d[accessKeyID]: Required value: " + idRemedy, "d[secretAccessKey]: Required value: " + secretRemedy},
		},
		"an empty secret": {
			accessKey("secretAccessKey", ""), []string{"d[secretAccessKey]: Required value: " + secretRemedy},
		},
		"line breaks": {
			accessKey("accessKeyID", id+"\n", "secretAccessKey", secret+"\n", "region", "eu-west-1\n"),
			[]string{"d[accessKeyID]: Invalid value: " + idRemedy, "d[secretAccessKey]: Invalid value: " + secretRemedy, "d[region]: Invalid value: " + regionRemedy},
		},
		"a zone for a region": {
			accessKey("region", "eu-west-1a"), []string{"d[region]: Invalid value: " + regionRemedy},
		},
		"keys that nobody reads": {
			accessKey("Region", "eu-west-1", "colour", "red"),
			[]string{"d[Region]: Forbidden: is not a key of AWS credentials: rename it to region, or remove it", "d[colour]: Forbidden: is not a key of AWS credentials: remove it"},
		},
		"the names of environment variables": {
			map[string][]byte{"AWS_ACCESS_KEY_ID": []byte(id), "AWS_SECRET_ACCESS_KEY": []byte(secret), "AWS_REGION": []byte("eu-west-1")},
			nil,
		},
		"two names of one key": {
			accessKey("AWS_ACCESS_KEY_ID", id),
			[]string{"d[AWS_ACCESS_KEY_ID]: Invalid value: means the same as accessKeyID: remove one of the two"},
		},
		"another name for one key": {
			accessKey("accessKeyID", "-", "AWS_ACCESS_KEY_ID", "x"),
			[]string{"d[AWS_ACCESS_KEY_ID]: Invalid value: " + idRemedy},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(test.want, messages(validation.ValidateCredentials(test.data, field.NewPath("d")))))
		})
	}
}
