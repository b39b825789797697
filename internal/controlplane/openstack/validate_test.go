package openstack

import (
	"testing"

	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/controlplane"
)

func TestDriver_IncompleteInfrastructureStatus(t *testing.T) {
	for sentence, tc := range map[string]struct {
		status   *runtime.RawExtension
		wantText string
	}{
		"missing":              {nil, `spec.infrastructureProviderStatus names no subnet of purpose "nodes"`},
		"without subnets":      {encoded(t, openstackv1alpha1.NewInfrastructureStatus()), `spec.infrastructureProviderStatus names no subnet of purpose "nodes"`},
		"that does not decode": {&runtime.RawExtension{Raw: []byte(`{}`)}, "decoding spec.infrastructureProviderStatus"},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot := &controlplane.Shoot{
				ControlPlane: &extensionsv1alpha1.ControlPlane{Spec: extensionsv1alpha1.ControlPlaneSpec{
					DefaultSpec: extensionsv1alpha1.DefaultSpec{ProviderConfig: encoded(t, &openstackv1alpha1.ControlPlaneConfig{LoadBalancerProvider: "amphora"})},
					Region:      "RegionOne", InfrastructureProviderStatus: tc.status,
				}},
				Cluster:     clusterWith(t, &openstackv1alpha1.CloudProfileConfig{KeyStoneURL: "https://cloud"}),
				Credentials: secretData(map[string]string{"username": "me", "password": "secret", "domainName": "d", "tenantName": "p"}),
			}
			require.Empty(t, New().Validate(shoot))
			_, err := New().Plan(shoot)
			require.ErrorIs(t, err, controlplane.ErrInfrastructureIncomplete)
			assert.ErrorContains(t, err, tc.wantText)
			assert.Equal(t, cloud.Unknown, cloud.KindOf(err), "it is transient, and no error of the user")
		})
	}
}

func encoded(t *testing.T, object runtime.Object) *runtime.RawExtension {
	t.Helper()
	raw, err := openstackv1alpha1.Encode(object)
	require.NoError(t, err)
	return raw
}

func TestValidatePodRanges(t *testing.T) {
	for sentence, tc := range map[string]struct {
		routes bool
		ranges []string
		want   string
	}{
		"a network that wraps packets needs no range": {ranges: nil},
		"one range":                  {routes: true, ranges: []string{"100.96.0.0/11"}},
		"one of each family":         {routes: true, ranges: []string{"100.96.0.0/11", "2001:db8::/56"}},
		"none where pods are routed": {routes: true, want: "give the range of the pods"},
		"two of one family":          {routes: true, ranges: []string{"100.96.0.0/11", "10.0.0.0/8"}, want: "one range of each IP family"},
		"something else":             {routes: true, ranges: []string{"pods"}, want: "CIDR notation"},
	} {
		t.Run(sentence, func(t *testing.T) {
			errs := (&inputs{routesPods: tc.routes, podRanges: tc.ranges}).validatePodRanges()
			if tc.want == "" {
				assert.Empty(t, errs)
				return
			}
			assert.ErrorContains(t, errs.ToAggregate(), tc.want)
		})
	}
}
