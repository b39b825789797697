package calico

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/json"
	vpaautoscalingv1 "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	calicov1alpha1 "github.com/trellis-garden/trellis/apis/calico/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

func defaultConfig(t *testing.T) *calicov1alpha1.NetworkConfig {
	t.Helper()
	decided, err := decide(shootOn(t, "aws", ""))
	require.NoError(t, err)
	return decided.settings.config
}

// These have befallen other extensions for Calico or Cilium. Each must not befall any shoot of the matrix.
func TestRender_KnownFaults(t *testing.T) {
	faults := map[string]func(*testing.T, *settings, []client.Object){
		"a scaler or budget for something that is not there": checkTargetsExist,
		"a family without a pool, which calico-node would then make as it likes": func(t *testing.T, s *settings, objects []client.Object) {
			assert.Equal(t, s.ipv4, has(objects, "IPPool", poolIPv4))
			assert.Equal(t, s.ipv6, has(objects, "IPPool", poolIPv6))
		},
		"no backend, so that BIRD makes routes to nowhere": func(t *testing.T, s *settings, _ []client.Object) {
			assert.Contains(t, []string{backendBird, backendVXLAN, backendNone}, s.form.Backend)
			assert.True(t, s.form.availableFeatures().covers(s.form.requiredFeatures()))
		},
		"source NAT between pods and nodes where packets are not wrapped": func(t *testing.T, s *settings, objects []client.Object) {
			translated4 := s.ipv4 && len(s.nodeRanges4) > 0
			translated6 := s.ipv6 && len(s.nodeRanges6) > 0 && *s.config.IPv6.SourceNATEnabled
			assert.Equal(t, s.form.native() && (translated4 || translated6), has(objects, "IPPool", poolNoSNAT))
		},
		"an object that is there twice": func(t *testing.T, _ *settings, objects []client.Object) {
			seen := map[string]bool{}
			for _, object := range objects {
				kind := object.GetObjectKind().GroupVersionKind()
				key := fmt.Sprintf("%s %s/%s", kind, object.GetNamespace(), object.GetName())
				assert.False(t, seen[key], key)
				seen[key] = true
				assert.NotEmpty(t, kind.Kind, key)
			}
		},
	}
	for _, each := range matrix(t) {
		if refusal(each.shoot) != "" {
			continue
		}
		decided, err := decide(each.shoot)
		require.NoError(t, err)
		objects, err := decided.settings.componentObjects()
		require.NoError(t, err)
		for sentence, check := range faults {
			if ok := t.Run(each.sentence+": not "+sentence, func(t *testing.T) { check(t, decided.settings, objects) }); !ok {
				return
			}
		}
	}
}

func has(objects []client.Object, kind, name string) bool { return find(objects, kind, name) != nil }

func find(objects []client.Object, kind, name string) client.Object {
	for _, object := range objects {
		if object.GetObjectKind().GroupVersionKind().Kind == kind && object.GetName() == name {
			return object
		}
	}
	return nil
}

// checkTargetsExist looks for scalers, budgets and Services of workloads that are not there.
func checkTargetsExist(t *testing.T, _ *settings, objects []client.Object) {
	for _, object := range objects {
		switch typed := object.(type) {
		case *vpaautoscalingv1.VerticalPodAutoscaler:
			assert.True(t, has(objects, typed.Spec.TargetRef.Kind, typed.Spec.TargetRef.Name), "VerticalPodAutoscaler %s", typed.Name)
		case *policyv1.PodDisruptionBudget:
			assert.True(t, selects(t, typed.Spec.Selector, objects), "PodDisruptionBudget %s", typed.Name)
		case *corev1.Service:
			assert.True(t, selects(t, &metav1.LabelSelector{MatchLabels: typed.Spec.Selector}, objects), "Service %s", typed.Name)
		}
	}
}

func selects(t *testing.T, selector *metav1.LabelSelector, objects []client.Object) bool {
	t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	require.NoError(t, err)
	for _, object := range objects {
		switch typed := object.(type) {
		case *appsv1.Deployment:
			if parsed.Matches(labels.Set(typed.Spec.Template.Labels)) {
				return true
			}
		case *appsv1.DaemonSet:
			if parsed.Matches(labels.Set(typed.Spec.Template.Labels)) {
				return true
			}
		}
	}
	return false
}

// Rendering changes nothing that it is given, and shoots that are rendered at the same time do not get each other's images.
func TestRender_Concurrent(t *testing.T) {
	const count = 8
	untouched := shootOn(t, "aws", "")
	shoots := make([]*network.Shoot, count)
	renderings := make([][2]string, count)
	var group sync.WaitGroup
	for i := range shoots {
		shoots[i] = shootOn(t, "aws", "")
		shoots[i].Image = func(name string) (string, error) { return fmt.Sprintf("registry-%d.example.org/%s", i, name), nil }
		group.Go(func() {
			for again := range renderings[i] {
				rendering, err := New().Render(shoots[i])
				if !assert.NoError(t, err) {
					return
				}
				encoded, err := json.Marshal(rendering)
				assert.NoError(t, err)
				renderings[i][again] = string(encoded)
			}
		})
	}
	group.Wait()
	for i, shoot := range shoots {
		assert.Empty(t, cmp.Diff(untouched, shoot, cmpopts.IgnoreFields(network.Shoot{}, "Image", "APIServerAddresses")), "the shoot stays as it is")
		assert.Equal(t, renderings[i][0], renderings[i][1], "the same shoot renders to the same bytes")
		for j := range shoots {
			assert.Equal(t, i == j, strings.Contains(renderings[i][0], fmt.Sprintf("registry-%d.", j)), "%d has images of %d", i, j)
		}
	}
}

// Users write what they like.
func TestValidate_UnusualConfigurations(t *testing.T) {
	for _, raw := range []string{
		`{"overlay":{"enabled":"yes"}}`, `{"overlay":true}`, `{"overlay":null}`, `[]`, `"calico"`, `{"ipv4":{"mode":1}}`, `{"autoScaling":{"resources":{"node":{"cpu":{}}}}}`,
		`{"multus":[]}`, `{`, `null`, ``, `{"typha":{}}`, `{"vxlan":{}}`, `{"ebpfDataplane":{}}`, `{"ipam":{}}`,
	} {
		t.Run(raw, func(t *testing.T) {
			shoot := shootOn(t, "aws", "backend: bird")
			shoot.Network.Spec.ProviderConfig.Raw = []byte(raw)
			New().Capabilities(shoot)
			errs := New().Validate(shoot)
			_, err := New().Render(shoot)
			assert.Equal(t, len(errs) == 0, err == nil, "what is accepted does not fail: %v, %v", errs, err)
		})
	}
}

// Users see all defaults that are in force.
func TestRender_Status(t *testing.T) {
	rendering, err := New().Render(shootOn(t, "aws", "{overlay: {enabled: true}, ipv4: {mode: CrossSubnet}}"))
	require.NoError(t, err)
	status, ok := rendering.Status.(*calicov1alpha1.NetworkStatus)
	require.True(t, ok)
	assert.Equal(t, "NetworkStatus", status.Kind)
	assert.Equal(t, []string{"ipv4.mode is Always instead of CrossSubnet: overlay.enabled is true"}, status.Overridden)
	assert.Equal(t, "bird", string(*status.Effective.Backend))
	assert.Equal(t, "cidr=10.250.0.0/16", *status.Effective.IPv4.AutoDetectionMethod)
	assert.True(t, status.Effective.Typha.Enabled)
	assert.Nil(t, status.Effective.IPv6)
	assert.NotEmpty(t, rendering.Retired, "upstream leaves something in the seed")
}
