package contract

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestSameOutput(t *testing.T) {
	infrastructure := func(providerStatus string, egress ...string) *extensionsv1alpha1.Infrastructure {
		object := &extensionsv1alpha1.Infrastructure{}
		object.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(providerStatus)}
		object.Status.EgressCIDRs = egress
		return object
	}
	for sentence, test := range map[string]struct {
		a, b *extensionsv1alpha1.Infrastructure
		want bool
	}{
		"the order of keys means nothing":       {a: infrastructure(`{"b":1,"a":{"d":[1,2],"c":2}}`), b: infrastructure(`{"a":{"c":2,"d":[1,2]},"b":1}`), want: true},
		"the order of items means something":    {a: infrastructure(`{"d":[1,2]}`), b: infrastructure(`{"d":[2,1]}`)},
		"an additional field is another output": {a: infrastructure(`{}`), b: infrastructure(`{}`, "192.0.2.1/32")},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, sameOutput(test.a, test.b)) })
	}
}
