package network

import (
	"context"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// twoResources answers with the ManagedResources of a shoot. One that is nil is not there.
type twoResources struct {
	client.Reader
	shoot, seed *resourcesv1alpha1.ManagedResource
}

func (r twoResources) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	for name, found := range map[string]*resourcesv1alpha1.ManagedResource{"extension-networking-example-net-config": r.shoot, "extension-networking-example-net-seed": r.seed} {
		if key.Name == name && found != nil {
			found.DeepCopyInto(object.(*resourcesv1alpha1.ManagedResource))
			return nil
		}
	}
	return apierrors.NewNotFound(resourcesv1alpha1.Resource("managedresources"), key.Name)
}

func TestCheckHealth(t *testing.T) {
	const inStage = `{"apiVersion":"network.trellis.garden/v1alpha1","kind":"NetworkState","form":{},"stage":{"name":"rolling out","gate":{}}}`
	healthy := contracttest.ManagedResource("well")
	unhealthy := contracttest.ManagedResource("sick", contracttest.ManagedResourceState{
		Kind: resourcesv1alpha1.ResourcesHealthy, Status: gardencorev1beta1.ConditionFalse, Reason: "DaemonSetUnhealthy", Message: "too few pods",
	})
	hibernated := unhealthy.DeepCopy()
	hibernated.Annotations = map[string]string{"network.trellis.garden/hibernated": "true"}
	const system, observability = gardencorev1beta1.ShootSystemComponentsHealthy, gardencorev1beta1.ShootObservabilityComponentsHealthy
	for sentence, test := range map[string]struct {
		found   twoResources
		state   string
		healthy map[gardencorev1beta1.ConditionType]bool
		message map[gardencorev1beta1.ConditionType]string
	}{
		"everything is healthy": {
			found: twoResources{shoot: healthy, seed: healthy}, healthy: map[gardencorev1beta1.ConditionType]bool{system: true, observability: true},
		},
		"pods in the shoot are down": {
			found: twoResources{shoot: unhealthy, seed: healthy}, healthy: map[gardencorev1beta1.ConditionType]bool{observability: true},
			message: map[gardencorev1beta1.ConditionType]string{system: `ManagedResource "sick" is not healthy: too few pods.`},
		},
		"monitoring is unhealthy": {
			found: twoResources{shoot: healthy}, healthy: map[gardencorev1beta1.ConditionType]bool{system: true},
			message: map[gardencorev1beta1.ConditionType]string{observability: `ManagedResource "extension-networking-example-net-seed" does not exist.`},
		},
		"the shoot is hibernated": {
			found: twoResources{shoot: hibernated, seed: healthy}, healthy: map[gardencorev1beta1.ConditionType]bool{system: true, observability: true},
			message: map[gardencorev1beta1.ConditionType]string{system: "The shoot is hibernated, nothing has to run."},
		},
		"nodes have not reached the stage": {
			found: twoResources{shoot: healthy, seed: healthy}, state: inStage, healthy: map[gardencorev1beta1.ConditionType]bool{system: true, observability: true},
			message: map[gardencorev1beta1.ConditionType]string{system: "The network is healthy and being changed: rolling out."},
		},
		"nodes have not reached the stage, and pods are down": {
			found: twoResources{shoot: unhealthy, seed: healthy}, state: inStage, healthy: map[gardencorev1beta1.ConditionType]bool{observability: true},
			message: map[gardencorev1beta1.ConditionType]string{system: `ManagedResource "sick" is not healthy: too few pods.`},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			object := &extensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--test--one", Name: "one"}}
			object.Spec.Type = "example-net"
			if test.state != "" {
				object.Status.State = &runtime.RawExtension{Raw: []byte(test.state)}
			}
			findings, err := checkHealth(t.Context(), contract.CheckInput[*extensionsv1alpha1.Network]{
				Object: object, Watched: test.found, Now: contracttest.ManagedResourceTime(),
			})
			require.NoError(t, err)
			require.Len(t, findings, 2)
			for kind, finding := range findings {
				assert.Equal(t, test.healthy[kind], finding.Healthy, kind)
				assert.Equal(t, test.message[kind], finding.Message, kind)
			}
		})
	}
}
