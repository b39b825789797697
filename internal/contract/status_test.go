package contract

import (
	"context"
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// slowClient is a client whose status patches end when they are let go, well or because they were given up.
type slowClient struct {
	client.Client
	status slowStatus
}

func (c slowClient) Status() client.SubResourceWriter { return c.status }

type slowStatus struct {
	client.SubResourceWriter
	started, released chan struct{}
}

func (s slowStatus) Patch(ctx context.Context, _ client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	close(s.started)
	<-s.released
	return ctx.Err()
}

func TestStatusWriter_ContextEndsDuringWrite(t *testing.T) {
	slow := slowStatus{started: make(chan struct{}), released: make(chan struct{})}
	writer := &statusWriter[*extensionsv1alpha1.Infrastructure]{client: slowClient{status: slow}, known: &extensionsv1alpha1.Infrastructure{}}
	change := func(known *extensionsv1alpha1.Infrastructure) *extensionsv1alpha1.Infrastructure {
		known.Status.ObservedGeneration++
		return known
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := writer.write(ctx, change)
		ended <- err
	}()
	<-slow.started
	cancel()
	close(slow.released)
	require.NoError(t, <-ended)

	_, err := writer.write(ctx, change)
	require.ErrorIs(t, err, context.Canceled, "a write that had not begun was begun")
}

func TestSameOutput(t *testing.T) {
	infrastructure := func(providerStatus string, egress ...string) *extensionsv1alpha1.Infrastructure {
		object := &extensionsv1alpha1.Infrastructure{}
		object.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(providerStatus)}
		object.Status.EgressCIDRs = egress
		return object
	}
	for sentence, test := range map[string]struct {
		a, b    *extensionsv1alpha1.Infrastructure
		renewed func(*extensionsv1alpha1.Infrastructure)
		want    bool
	}{
		"the order of keys means nothing":       {a: infrastructure(`{"b":1,"a":{"d":[1,2],"c":2}}`), b: infrastructure(`{"a":{"c":2,"d":[1,2]},"b":1}`), want: true},
		"the order of items means something":    {a: infrastructure(`{"d":[1,2]}`), b: infrastructure(`{"d":[2,1]}`)},
		"an additional field is another output": {a: infrastructure(`{}`), b: infrastructure(`{}`, "192.0.2.1/32")},
		"what every pass writes anew means nothing": {
			a: infrastructure(`{}`), b: infrastructure(`{}`, "192.0.2.1/32"), want: true,
			renewed: func(object *extensionsv1alpha1.Infrastructure) { object.Status.EgressCIDRs = nil },
		},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, test.want, sameOutput(test.a, test.b, test.renewed)) })
	}
}
