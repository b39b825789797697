package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/conformance"
)

// deletionConfirmed is the annotation that a Shoot needs before it is deleted.
const deletionConfirmed = v1beta1constants.ConfirmationDeletion

func stepsOfOtherShoots() []Step {
	return []Step{
		{
			Name: "wrong-inputs", Sentence: "a second Shoot with wrong inputs is refused by our admission, which names the fields", limit: changeLimit,
			skip: func(r *run) string {
				if !r.HasAdmission {
					return "our admission is not installed in this garden"
				}
				return ""
			},
			do: createWrongShoot,
		},
		{
			Name: "quota", Sentence: "a third Shoot whose quota of routers is exhausted says so, and recovers when it is raised", limit: rotationLimit,
			shoot: quotaShoot, do: createWithoutQuota,
			expected: []expectedError{
				{Text: "quota", Reason: "the quota is exhausted in this step"}, {Text: "Quota", Reason: "the quota is exhausted in this step"}, removedInstallation(), removedMachineController(),
			},
			without: checkSet{checkCalls}, // what fails is tried again
		},
	}
}

func stepsOfEnd() []Step {
	return []Step{
		{
			Name: "delete", Sentence: "the Shoot is deleted", limit: createLimit, without: checkSet{checkConditions},
			do:       func(ctx context.Context, r *run) error { return r.delete(ctx, r.main) },
			expected: []expectedError{removedInstallation(), removedMachineController()},
		},
		{
			Name: "empty", Sentence: "nothing is left in the cloud, in the seeds and in the garden", alone: true, limit: changeLimit, without: checkSet{checkConditions, checkCalls},
			do: expectEmpty, expected: []expectedError{removedInstallation()},
		},
	}
}

// removedInstallation is what a controller says when the last Shoot of a seed that needs it has gone.
func removedInstallation() expectedError {
	return expectedError{
		Text:   "-leader-election",
		Reason: "gardenlet removes installations that no Shoot needs any more; a controller's Role may go before its pod has ended",
	}
}

// removedMachineController is what our machine controller says when gardenlet deletes its Role and its Deployment.
func removedMachineController() expectedError {
	return expectedError{
		Text:   `leases.coordination.k8s.io \"machine-controller\" is forbidden`,
		Reason: "gardenlet deletes the machine controller's Role together with its Deployment; the pod ends a moment later",
	}
}

// createWrongShoot expects the answer of our admission, with all fields at once.
func createWrongShoot(ctx context.Context, r *run) error {
	shoot := r.newShoot(r.main)
	shoot.Name = wrongShoot
	shoot.Spec.DNS = unmanagedDomain(domainOf(wrongShoot)) // gardener-apiserver itself would refuse the main Shoot's
	config := &openstackv1alpha1.InfrastructureConfig{}
	if err := json.Unmarshal(shoot.Spec.Provider.InfrastructureConfig.Raw, config); err != nil {
		return err
	}
	config.FloatingPoolName, config.Networks.Workers = "", "10.250.0.1/33"
	shoot.Spec.Provider.InfrastructureConfig = raw(config)
	err := r.garden.Create(ctx, shoot)
	if err == nil {
		return errors.New("a Shoot without a floating pool and with an impossible range of nodes was accepted")
	}
	r.linef("    admission's answer: %v", err)
	for _, field := range []string{"infrastructureConfig.floatingPoolName", "infrastructureConfig.networks.workers"} {
		if !strings.Contains(err.Error(), field) {
			return fmt.Errorf("the answer does not name %s: %w", field, err)
		}
	}
	return nil
}

// createWithoutQuota creates a Shoot in an account of its own without a quota of routers, raises the quota once gardenlet has told the error, and
// deletes the Shoot at the end.
func createWithoutQuota(ctx context.Context, r *run) error {
	s, err := r.openAccount(ctx, quotaShoot)
	if err != nil {
		return err
	}
	if err := r.addCredentials(ctx, s); err != nil {
		return err
	}
	if err := setRouterQuota(ctx, s, 0); err != nil {
		return err
	}
	if err := r.createShoot(ctx, r.newShoot(s)); err != nil {
		return err
	}
	if err := r.await(ctx, "the error about the quota", func(ctx context.Context) (string, error) {
		found, err := r.get(ctx, s)
		if err != nil {
			return "", err
		}
		for _, last := range found.Status.LastErrors {
			if slices.Contains(last.Codes, gardencorev1beta1.ErrorInfraQuotaExceeded) {
				r.linef("    the Shoot says: %s", strings.Join(strings.Fields(last.Description), " "))
				return "", nil
			}
		}
		return describe(found), errors.Join(append([]error{errors.New(describe(found))}, lastErrors(found)...)...)
	}); err != nil {
		return err
	}
	if err := setRouterQuota(ctx, s, 10); err != nil {
		return err
	}
	if err := r.request(ctx, s, v1beta1constants.ShootOperationRetry); err != nil {
		return err
	}
	if err := r.awaitSettled(ctx, s); err != nil {
		return err
	}
	if err := r.awaitConditions(ctx, s); err != nil {
		return err
	}
	return r.delete(ctx, s)
}

// setRouterQuota sets the account's quota of routers, as an operator of the cloud.
func setRouterQuota(ctx context.Context, s *shoot, limit int) error {
	_, err := s.account.DoAsOperator(ctx, http.MethodPut, conformance.Network, "/v2.0/quotas/"+s.account.ProjectID, conformance.Body{
		"quota": conformance.Body{"router": limit},
	})
	if err != nil {
		return fmt.Errorf("setting the quota of routers of Shoot %s: %w", s.name, err)
	}
	return nil
}

// delete deletes a Shoot as a user does, who has to confirm it.
func (r *run) delete(ctx context.Context, s *shoot) error {
	if err := r.change(ctx, s, func(shoot *gardencorev1beta1.Shoot) {
		metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, deletionConfirmed, "true")
	}); err != nil {
		return err
	}
	if err := client.IgnoreNotFound(r.garden.Delete(ctx, &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Namespace: projectNamespace, Name: s.name},
	})); err != nil {
		return fmt.Errorf("deleting Shoot %s: %w", s.name, err)
	}
	return r.awaitGone(ctx, s)
}

// expectEmpty waits until inventories are empty: a deletion of Gardener in the background may take a moment.
func expectEmpty(ctx context.Context, r *run) error {
	var shoots []*shoot
	for _, name := range r.accountNames() {
		shoots = append(shoots, r.account(name))
	}
	return r.await(ctx, "empty inventories", func(ctx context.Context) (string, error) {
		inventories, err := r.inventories(ctx, shoots)
		if err != nil {
			return "", err
		}
		r.left = inventories
		var left []string
		for where, lines := range inventories {
			for _, line := range lines {
				left = append(left, where+": "+line)
			}
		}
		if len(left) > 0 {
			slices.Sort(left)
			return fmt.Sprintf("%d objects are left", len(left)), fmt.Errorf("%d objects are left: %s", len(left), strings.Join(left, "; "))
		}
		return "", nil
	})
}
