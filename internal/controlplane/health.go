package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/trellis-garden/trellis/internal/contract"
)

const (
	// annotationAsleep on the ManagedResource of the seed says that everything in it is scaled to zero.
	annotationAsleep = "controlplane.trellis.garden/asleep"
	// troubleGrace is how long trouble is Progressing before it is a failure: pods start, leaders change. gardenlet grants
	// as much to these conditions.
	troubleGrace = time.Minute
	// rolloutLimit is how long pods may be replaced while everything is healthy. It is gardenlet's default.
	rolloutLimit = time.Hour
)

// The conditions are those that gardenlet makes conditions of the Shoot of.
const (
	controlPlaneHealthy     = gardencorev1beta1.ShootControlPlaneHealthy
	systemComponentsHealthy = gardencorev1beta1.ShootSystemComponentsHealthy
)

// AddHealth adds a controller to a manager that keeps two conditions on ControlPlanes: ControlPlaneHealthy for what is in
// the seed, SystemComponentsHealthy for what is in the shoot. It goes by the ManagedResources, so that it knows every
// component there is and needs no access to the shoot.
func AddHealth(mgr manager.Manager, options contract.Options) error {
	return contract.AddHealth(mgr, contract.Health[*extensionsv1alpha1.ControlPlane]{
		Name:  "controlplane",
		New:   func() *extensionsv1alpha1.ControlPlane { return &extensionsv1alpha1.ControlPlane{} },
		Types: []gardencorev1beta1.ConditionType{controlPlaneHealthy, systemComponentsHealthy},
		Check: checkHealth,
	}, options)
}

// checkHealth costs four small requests while all is well.
func checkHealth(ctx context.Context, look contract.Look[*extensionsv1alpha1.ControlPlane]) (contract.Findings, error) {
	found, err := readManagedResources(ctx, look.Reader, look.Object.Namespace)
	if err != nil {
		return nil, err
	}
	seedObject := found[resourceSeed]
	if seedObject != nil && seedObject.Annotations[annotationAsleep] == "true" {
		resting := contract.Finding{Healthy: true, Message: "The shoot is hibernated, nothing has to run."}
		return contract.Findings{controlPlaneHealthy: resting, systemComponentsHealthy: resting}, nil
	}
	seed := ailmentsOf(found, look.Now, resourceSeed)
	for n := range seed {
		seed[n].lookCloser(ctx, look.Reader)
	}
	shoot := ailmentsOf(found, look.Now, resourceShoot, resourceShootCRDs, resourceStorageClasses)
	findings := contract.Findings{
		controlPlaneHealthy:     findingOf(seed, lastCodes(look.Object)),
		systemComponentsHealthy: findingOf(shoot, nil),
	}
	if fallsAsleep(look.Object) { // what is in the seed runs until the kube-apiserver is gone, nodes go before
		findings[systemComponentsHealthy] = contract.Finding{Healthy: true, Message: "The shoot is being hibernated, nothing has to run in it."}
	}
	return findings, nil
}

// readManagedResources returns those of the ControlPlane's ManagedResources that there are, by name. A list would bring along
// all the others of the shoot, which is ten times the memory. What the API server has in its own memory is good enough, and
// spares etcd the looks at all shoots.
func readManagedResources(ctx context.Context, reader client.Reader, namespace string) (map[string]*resourcesv1alpha1.ManagedResource, error) {
	fromMemory := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}}
	found := map[string]*resourcesv1alpha1.ManagedResource{}
	for _, name := range []string{resourceSeed, resourceShoot, resourceShootCRDs, resourceStorageClasses} {
		resource := &resourcesv1alpha1.ManagedResource{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, resource, fromMemory)
		switch {
		case err == nil:
			found[name] = resource
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("reading ManagedResource %s: %w", name, err)
		}
	}
	return found, nil
}

// lastCodes returns the codes of the ControlPlane's own last error, which say why what it deploys is not well.
func lastCodes(object *extensionsv1alpha1.ControlPlane) []gardencorev1beta1.ErrorCode {
	if object.Status.LastError == nil {
		return nil
	}
	return object.Status.LastError.Codes
}

// findingOf puts ailments into one finding. The codes given are those of unhealthy findings besides the ailments' own.
func findingOf(ailments []ailment, codes []gardencorev1beta1.ErrorCode) contract.Finding {
	if len(ailments) == 0 {
		return contract.Finding{Healthy: true}
	}
	finding := contract.Finding{Grace: troubleGrace}
	var sentences []string
	for _, a := range ailments {
		sentences = append(sentences, a.sentence())
		finding.Codes = append(finding.Codes, a.codes...)
	}
	finding.Message = strings.Join(sentences, " ")
	finding.Codes = append(finding.Codes, codes...)
	slices.Sort(finding.Codes)
	finding.Codes = slices.Compact(finding.Codes)
	return finding
}

// ailment is what is wrong with one ManagedResource.
type ailment struct {
	// resource is nil when there is none.
	resource *resourcesv1alpha1.ManagedResource
	// what is a clause.
	what  string
	codes []gardencorev1beta1.ErrorCode
	// within says that everything is applied and that the trouble is with what has come of it.
	within bool
}

func (a *ailment) sentence() string {
	clause := a.clause()
	return strings.ToUpper(clause[:1]) + clause[1:] + "."
}

// clause is without the full stop that a message which it ends with may have.
func (a *ailment) clause() string { return strings.TrimRight(strings.TrimSpace(a.what), ".") }

// lookCloser finds out what it is that ails the components. That it could not is no reason to say less.
func (a *ailment) lookCloser(ctx context.Context, reader client.Reader) {
	if !a.within {
		return
	}
	explanation, err := explain(ctx, reader, a.resource)
	switch {
	case err != nil:
		a.what = fmt.Sprintf("%s (%v)", a.clause(), err)
	case explanation != "":
		a.what = explanation
	}
}

// ailmentsOf returns what is wrong with the named ManagedResources, in their order.
func ailmentsOf(found map[string]*resourcesv1alpha1.ManagedResource, now time.Time, names ...string) []ailment {
	var ailments []ailment
	for _, name := range names {
		resource := found[name]
		if resource == nil {
			ailments = append(ailments, ailment{what: fmt.Sprintf("ManagedResource %q does not exist", name)})
			continue
		}
		for _, examine := range []func(*resourcesv1alpha1.ManagedResource, time.Time) *ailment{notApplied, notHealthy, notRolledOut} {
			if a := examine(resource, now); a != nil {
				a.resource = resource
				ailments = append(ailments, *a)
				break
			}
		}
	}
	return ailments
}

// notApplied returns what keeps the objects of a ManagedResource from being in place as they should.
func notApplied(resource *resourcesv1alpha1.ManagedResource, now time.Time) *ailment {
	condition := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesApplied)
	switch {
	case condition == nil:
		return &ailment{what: fmt.Sprintf("ManagedResource %q has not been applied yet", resource.Name)}
	case condition.Status != gardencorev1beta1.ConditionTrue && isAboutDeletion(condition):
		return &ailment{
			what:  fmt.Sprintf("objects of ManagedResource %q are not deleted yet: %s", resource.Name, condition.Message),
			codes: deletionCodes(condition, now),
		}
	case !resource.DeletionTimestamp.IsZero():
		return &ailment{what: fmt.Sprintf("ManagedResource %q is being deleted", resource.Name)}
	case condition.Status == gardencorev1beta1.ConditionFalse:
		return &ailment{what: fmt.Sprintf("ManagedResource %q could not be applied: %s", resource.Name, condition.Message)}
	case condition.Status != gardencorev1beta1.ConditionTrue || resource.Status.ObservedGeneration != resource.Generation:
		return &ailment{what: fmt.Sprintf("ManagedResource %q is still being applied", resource.Name)}
	default:
		return nil
	}
}

func isAboutDeletion(condition *gardencorev1beta1.Condition) bool {
	return condition.Reason == resourcesv1alpha1.ConditionDeletionFailed || condition.Reason == resourcesv1alpha1.ConditionDeletionPending
}

// deletionCodes tells a deletion that something blocks from one that takes its time.
func deletionCodes(condition *gardencorev1beta1.Condition, now time.Time) []gardencorev1beta1.ErrorCode {
	if condition.Reason == resourcesv1alpha1.ConditionDeletionPending && now.Sub(condition.LastTransitionTime.Time) <= troubleGrace {
		return nil
	}
	return []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCleanupClusterResources}
}

// notHealthy returns what ails the objects of a ManagedResource.
func notHealthy(resource *resourcesv1alpha1.ManagedResource, _ time.Time) *ailment {
	condition := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesHealthy)
	switch {
	case condition == nil || condition.Status == gardencorev1beta1.ConditionUnknown:
		return &ailment{what: fmt.Sprintf("the health of ManagedResource %q has not been checked yet", resource.Name)}
	case condition.Status != gardencorev1beta1.ConditionTrue:
		return &ailment{what: fmt.Sprintf("ManagedResource %q is not healthy: %s", resource.Name, condition.Message), within: true}
	default:
		return nil
	}
}

// notRolledOut returns that pods which should have been replaced long since have not been.
func notRolledOut(resource *resourcesv1alpha1.ManagedResource, now time.Time) *ailment {
	condition := v1beta1helper.GetCondition(resource.Status.Conditions, resourcesv1alpha1.ResourcesProgressing)
	if condition == nil || condition.Status == gardencorev1beta1.ConditionFalse || now.Sub(condition.LastTransitionTime.Time) < rolloutLimit {
		return nil
	}
	return &ailment{what: fmt.Sprintf("the rollout of ManagedResource %q takes more than an hour: %s", resource.Name, condition.Message), within: true}
}
