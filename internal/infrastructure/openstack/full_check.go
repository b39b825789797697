package openstack

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/infrastructure"
)

// A full check reads all resources of a shoot. gardenlet repeats a reconciliation each time that a later step of its flow has failed, often within a minute. So
// for an interval after a full check that found everything as it has to be, a repetition reads only the router. Its revision number changes with its gateway,
// its addresses, its routes and its interfaces; and an interface keeps its subnet, and the subnet's network, from being deleted. What a repetition cannot
// see are attributes of network and subnets, rules of the security group, the key pair, and the share network: if they have changed, the next full check
// repairs them. See decision 34.
//
// A repetition is a reconciliation in which nothing else has changed: the object with its status, the cloud profile, the credentials, and the generation of
// the shoot, which Gardener increments when somebody requests a reconciliation. So what a user or an operator requests is a full check, and so is every
// reconciliation after an error, in a new process, on another seed, or of another operation.

// fullChecks are the last full checks of shoots. They are in memory only: a restart costs one full check of each shoot.
type fullChecks struct {
	interval time.Duration // 0: every check is a full one

	mutex    sync.Mutex
	byShoot  map[string]*fullCheck // by UID
	prunedAt time.Time
}

// fullCheck is a full check without findings.
type fullCheck struct {
	at     time.Time
	inputs inputsHash
	// router is the router before the reconciliation: a change by the reconciliation itself ends the validity, too.
	router cloudopenstack.Router
}

// take returns a shoot's last full check, or nil if there is no recent one. It removes it: the check counts again only if the reconciliation succeeds.
func (c *fullChecks) take(shootUID string, now time.Time) *fullCheck {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	check := c.byShoot[shootUID]
	delete(c.byShoot, shootUID)
	if check == nil || now.Sub(check.at) >= c.interval {
		return nil
	}
	return check
}

// put keeps a shoot's full check, if there is one, and removes those that are not recent any more.
func (c *fullChecks) put(shootUID string, check *fullCheck, now time.Time) {
	if c.interval <= 0 || check == nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.byShoot == nil {
		c.byShoot = map[string]*fullCheck{}
	}
	if now.Sub(c.prunedAt) >= time.Minute {
		maps.DeleteFunc(c.byShoot, func(_ string, old *fullCheck) bool { return now.Sub(old.at) >= c.interval })
		c.prunedAt = now
	}
	c.byShoot[shootUID] = check
}

// repeats reports whether the reconciliation repeats the one that made the last full check, and one request shows that the check is still valid.
func (rec *reconciliation) repeats(ctx context.Context, shoot *infrastructure.Shoot, last *fullCheck, hash inputsHash) (bool, error) {
	if last == nil || last.inputs != hash || !succeededLast(shoot) {
		return false, nil
	}
	found, err := rec.cloud.ListRouters(ctx, cloudopenstack.RouterFilter{IDs: []string{last.router.ID}})
	if err != nil {
		return false, fmt.Errorf("reading router %s: %w", last.router.ID, err)
	}
	return len(found) == 1 && reflect.DeepEqual(found[0], last.router), nil
}

// succeededLast reports whether the last operation has succeeded, and this one is a plain reconciliation: others, and requests without a new timestamp,
// which gardenlet does not make, are in the status as Processing.
func succeededLast(shoot *infrastructure.Shoot) bool {
	status := shoot.Infrastructure.Status
	return status.LastOperation != nil && status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded && status.LastError == nil
}

// fullCheck returns the check that a successful reconciliation has made, or nil if it does not prove that everything is as it has to be. Without a revision
// number the cloud does not tell changes of a router; and while the result of a creation is unknown, each reconciliation looks for its resource.
func (rec *reconciliation) fullCheck(hash inputsHash) *fullCheck {
	router := rec.observed.router
	uncertain := slices.ContainsFunc(append(searchedKinds(), kindInterface), rec.state.MayHaveMore)
	if router == nil || router.RevisionNumber == 0 || uncertain || len(rec.allFindings()) > 0 {
		return nil
	}
	return &fullCheck{at: rec.started, inputs: hash, router: *router}
}

// inputsHash is a hash of checkInputs.
type inputsHash [sha256.Size]byte

// checkInputs has everything that a reconciliation depends on but the cloud.
type checkInputs struct {
	TechnicalID        string                                             `json:"technicalID"`
	UID                string                                             `json:"uid"`
	Generation         int64                                              `json:"generation"`
	Spec               extensionsv1alpha1.InfrastructureSpec              `json:"spec"`
	ProviderStatus     *runtime.RawExtension                              `json:"providerStatus"`
	State              *runtime.RawExtension                              `json:"state"`
	NodesCIDR          *string                                            `json:"nodesCIDR"`
	EgressCIDRs        []string                                           `json:"egressCIDRs"`
	NetworkingStatus   *extensionsv1alpha1.InfrastructureStatusNetworking `json:"networkingStatus"`
	ShootGeneration    int64                                              `json:"shootGeneration"`
	ShootNetworking    *gardencorev1beta1.Networking                      `json:"shootNetworking"`
	CloudProfileConfig *runtime.RawExtension                              `json:"cloudProfileConfig"`
	Credentials        map[string][]byte                                  `json:"credentials"`
}

func hashInputs(shoot *infrastructure.Shoot) (inputsHash, error) {
	object, status := shoot.Infrastructure, shoot.Infrastructure.Status
	raw, err := json.Marshal(checkInputs{
		TechnicalID: shoot.TechnicalID, UID: string(object.UID), Generation: object.Generation, Spec: object.Spec,
		ProviderStatus: status.ProviderStatus, State: status.State, NodesCIDR: status.NodesCIDR, EgressCIDRs: status.EgressCIDRs,
		NetworkingStatus: status.Networking,
		ShootGeneration:  shoot.Cluster.Shoot.Generation, ShootNetworking: shoot.Cluster.Shoot.Spec.Networking,
		CloudProfileConfig: shoot.Cluster.CloudProfile.Spec.ProviderConfig, Credentials: shoot.Credentials,
	})
	if err != nil {
		return inputsHash{}, fmt.Errorf("encoding the inputs of the reconciliation: %w", err)
	}
	return sha256.Sum256(raw), nil
}
