package inspect

import (
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// managedResource has the statuses of its conditions; an empty one stands for a condition that does not exist.
func managedResource(name string, applied, healthy, progressing gardencorev1beta1.ConditionStatus) resourcesv1alpha1.ManagedResource {
	resource := resourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for conditionType, status := range map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{
		resourcesv1alpha1.ResourcesApplied: applied, resourcesv1alpha1.ResourcesHealthy: healthy, resourcesv1alpha1.ResourcesProgressing: progressing,
	} {
		if status != "" {
			resource.Status.Conditions = append(resource.Status.Conditions, gardencorev1beta1.Condition{
				Type: conditionType, Status: status, Message: string(conditionType), LastTransitionTime: metav1.NewTime(before(time.Minute)),
			})
		}
	}
	return resource
}

func TestProblemOf(t *testing.T) {
	for sentence, test := range map[string]struct {
		applied, healthy, progressing gardencorev1beta1.ConditionStatus
		generation                    int64
		deleted                       bool
		state                         State
		problem                       string
	}{
		"all is well":                  {applied: "True", healthy: "True", progressing: "False"},
		"nobody has seen it":           {state: StateProgressing, problem: "is not applied yet"},
		"objects are invalid":          {applied: "False", healthy: "True", state: StateUnhealthy, problem: "is not applied"},
		"it has changed":               {applied: "True", healthy: "True", generation: 2, state: StateProgressing, problem: "is not applied yet"},
		"it is being deleted":          {applied: "Progressing", deleted: true, state: StateProgressing, problem: "is being deleted"},
		"objects are unhealthy":        {applied: "True", healthy: "False", state: StateUnhealthy, problem: "is not healthy"},
		"objects are not checked":      {applied: "True", state: StateProgressing, problem: "is not known to be healthy yet"},
		"objects are being rolled out": {applied: "True", healthy: "True", progressing: "True", state: StateProgressing, problem: "is rolled out"},
	} {
		t.Run(sentence, func(t *testing.T) {
			resource := managedResource("a", test.applied, test.healthy, test.progressing)
			resource.Generation = test.generation
			if test.deleted {
				resource.DeletionTimestamp = new(metav1.NewTime(testNow()))
			}
			got := problemOf(&resource)
			if test.problem == "" {
				assert.Nil(t, got)
				return
			}
			assert.Equal(t, test.state, got.State)
			assert.Equal(t, test.problem, got.Problem)
		})
	}
}

func TestManagedResourcesOf(t *testing.T) {
	all := []resourcesv1alpha1.ManagedResource{
		managedResource("extension-controlplane-shoot", "True", "", ""), managedResource("extension-controlplane-seed", "False", "", ""),
		managedResource("extension-controlplane-crds", "True", "True", ""), managedResource("shoot-core-system", "False", "", ""),
		managedResource("extension-networking-example-config", "True", "True", ""),
	}
	got := managedResourcesOf("ControlPlane", all)
	assert.Equal(t, 3, got.Total)
	assert.Equal(t, []string{"extension-controlplane-seed", "extension-controlplane-shoot"}, []string{got.Problems[0].Name, got.Problems[1].Name}, "unhealthy first")
	assert.Equal(t, &ManagedResources{Total: 1}, managedResourcesOf("Network", all))
	assert.Nil(t, managedResourcesOf("Infrastructure", all))
	assert.Nil(t, managedResourcesOf("Worker", all))
}

func TestFailedMachinesOf(t *testing.T) {
	machine := func(name string, deleted bool, phase machinev1alpha1.MachinePhase, operation machinev1alpha1.LastOperation) machinev1alpha1.Machine {
		m := machinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": "pool"}}}
		m.Status.CurrentStatus.Phase, m.Status.LastOperation = phase, operation
		if deleted {
			m.DeletionTimestamp = new(metav1.NewTime(testNow()))
		}
		return m
	}
	failedCreate := machinev1alpha1.LastOperation{
		Type: machinev1alpha1.MachineOperationCreate, State: machinev1alpha1.MachineStateFailed,
		Description: "Cloud provider message - machine codes error: code = [ResourceExhausted] message = [no\ncores]",
	}
	got := failedMachinesOf([]machinev1alpha1.Machine{
		machine("running", false, machinev1alpha1.MachineRunning, machinev1alpha1.LastOperation{}),
		machine("lost", false, machinev1alpha1.MachineUnknown, machinev1alpha1.LastOperation{Description: "node is gone", Type: machinev1alpha1.MachineOperationHealthCheck}),
		machine("failed", false, machinev1alpha1.MachinePending, failedCreate),
		machine("deleted", true, machinev1alpha1.MachineFailed, failedCreate),
		machine("undeletable", true, machinev1alpha1.MachineTerminating, machinev1alpha1.LastOperation{
			Type: machinev1alpha1.MachineOperationDelete, State: machinev1alpha1.MachineStateFailed, ErrorCode: "Internal",
		}),
	})
	assert.Equal(t, []Machine{
		{Name: "failed", Deployment: "pool", Phase: "Pending", Operation: "Create", Code: "ResourceExhausted", Message: "no cores"},
		{Name: "lost", Deployment: "pool", Phase: "Unknown", Operation: "HealthCheck", Message: "node is gone"},
		{Name: "undeletable", Deployment: "pool", Phase: "Terminating", Operation: "Delete", Code: "Internal"},
	}, got)
}

func TestRawIDs(t *testing.T) {
	got, err := rawIDs(Recorded{
		State: []byte(`{"apiVersion":"example.org/v1","kind":"State","data":{"VPC":"vpc-0a1b","zones":[{"subnet":"subnet-1"},{"subnet":"subnet-2"}],
			"cidr":"10.0.0.0/8","gateway":"10.0.0.1","done":"true","key":"-----BEGIN KEY-----\n123","count":7}}`),
		Status: []byte(`{"vpc":{"id":"vpc-0a1b"},"group":"/subscriptions/x/resourceGroups/y"}`),
	})
	assert.NoError(t, err)
	assert.Equal(t, []Resource{
		{Kind: "data.VPC", ID: "vpc-0a1b", Origin: OriginUnknown},
		{Kind: "data.zones.subnet", ID: "subnet-1", Origin: OriginUnknown},
		{Kind: "data.zones.subnet", ID: "subnet-2", Origin: OriginUnknown},
		{Kind: "group", ID: "/subscriptions/x/resourceGroups/y", Origin: OriginUnknown},
	}, got)
	_, err = rawIDs(Recorded{State: []byte(`{`)})
	assert.ErrorContains(t, err, "reading the state of the Infrastructure")
}

func TestMissingNamespace(t *testing.T) {
	assert.Equal(t, `namespace "first" does not exist, and the cluster has no namespace of a shoot: is it the seed?`, missingNamespace("first", nil))
	assert.Equal(t, `namespace "shoot--dev--frist" does not exist; the shoot namespaces are shoot--dev--first, shoot--dev--second`,
		missingNamespace("shoot--dev--frist", []string{"shoot--dev--second", "shoot--dev--first"}))
	assert.Equal(t, []string{"shoot--dev--sixth", "shoot--a--b", "shoot--a--c", "shoot--a--d", "shoot--a--e"}, nearestNames("sixth",
		[]string{"shoot--a--f", "shoot--a--e", "shoot--a--d", "shoot--a--c", "shoot--a--b", "shoot--dev--sixth"}))
}
