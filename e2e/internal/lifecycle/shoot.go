package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/gardenlet"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
)

// The Shoots of a run.
const (
	mainShoot  = "one"
	wrongShoot = "two"
	quotaShoot = "three"
)

// nodeRanges are the Shoots' ranges of nodes. All simulated machines share a network.
func nodeRanges() map[string]string {
	return map[string]string{mainShoot: "10.250.0.0/18", wrongShoot: "10.250.64.0/18", quotaShoot: "10.250.128.0/18"}
}

// shoot is a Shoot of the run.
type shoot struct {
	name     string
	account  *openstack.Account
	template *gardenlet.Shoot
}

// accounts guards the Shoots' accounts: the simulation of machines looks for them while steps create them.
type accounts struct {
	lock   sync.Mutex
	byName map[string]*shoot
}

func (r *run) account(name string) *shoot {
	r.accounts.lock.Lock()
	defer r.accounts.lock.Unlock()
	return r.accounts.byName[name]
}

func (r *run) accountNames() []string {
	r.accounts.lock.Lock()
	defer r.accounts.lock.Unlock()
	names := make([]string, 0, len(r.accounts.byName))
	for name := range r.accounts.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// openAccount creates an account for a Shoot.
func (r *run) openAccount(ctx context.Context, name string) (*shoot, error) {
	if known := r.account(name); known != nil {
		return known, nil
	}
	account, err := r.Cloud.NewAccount(ctx, fmt.Sprintf("landscape-%s-%d", name, r.now().Unix()))
	if err != nil {
		return nil, fmt.Errorf("creating the account of Shoot %s: %w", name, err)
	}
	s := &shoot{name: name, account: account, template: account.NewShoot(name)}
	account.OfferMachines(s.template)
	s.template.KubernetesVersion = r.Versions[0]
	r.accounts.lock.Lock()
	defer r.accounts.lock.Unlock()
	r.accounts.byName[name] = s
	return s, nil
}

func (s *shoot) key() client.ObjectKey {
	return client.ObjectKey{Namespace: projectNamespace, Name: s.name}
}

func (s *shoot) technicalID() string { return technicalID(s.name) }

// technicalID is the name of a Shoot's namespace in its seed.
func technicalID(shoot string) string { return "shoot--" + project + "--" + shoot }

// credentials is the name of the Secret with the Shoot's account, and of its CredentialsBinding.
func (s *shoot) credentials() string { return "openstack-" + s.name }

// newShoot is the Shoot as a user would write it.
func (r *run) newShoot(s *shoot) *gardencorev1beta1.Shoot {
	config := openstack.InfrastructureConfig(r.Cloud)
	config.Networks.Workers = nodeRanges()[s.name]
	return &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Namespace: projectNamespace, Name: s.name},
		Spec: gardencorev1beta1.ShootSpec{
			CloudProfile:           &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: cloudProfile},
			CredentialsBindingName: new(s.credentials()),
			Region:                 r.Cloud.Region(),
			SeedName:               new(r.seedOf(s.name)),
			Kubernetes: gardencorev1beta1.Kubernetes{Version: r.Versions[0], KubeAPIServer: &gardencorev1beta1.KubeAPIServerConfig{
				AuditConfig: &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: auditPolicy}}},
			}},
			Networking: &gardencorev1beta1.Networking{
				Type: new("calico"), Nodes: new(nodeRanges()[s.name]), Pods: new("100.96.0.0/11"), Services: new("100.64.0.0/13"),
			},
			DNS: unmanagedDomain(domainOf(s.name)),
			Provider: gardencorev1beta1.Provider{
				Type: openstack.Type, InfrastructureConfig: raw(config), ControlPlaneConfig: raw(openstack.ControlPlaneConfig()),
				Workers: []gardencorev1beta1.Worker{r.newPool("w1", 1, 3)},
			},
		},
	}
}

// domainOf is the domain of a Shoot.
func domainOf(name string) string { return name + "." + project + ".example.com" }

// unmanagedDomain is a domain that nobody serves.
func unmanagedDomain(name string) *gardencorev1beta1.DNS {
	return &gardencorev1beta1.DNS{
		Domain:    new(name),
		Providers: []gardencorev1beta1.DNSProvider{{Type: new(core.DNSUnmanaged), Primary: new(true)}}, //nolint:staticcheck // there is no other way to say so
	}
}

// newPool is a pool of small machines as a user would write it.
func (r *run) newPool(name string, minimum, maximum int32) gardencorev1beta1.Worker {
	return gardencorev1beta1.Worker{
		Name: name, Minimum: minimum, Maximum: maximum, Zones: []string{openstack.Zone},
		CRI: &gardencorev1beta1.CRI{Name: gardencorev1beta1.CRINameContainerD},
		Machine: gardencorev1beta1.Machine{
			Type: openstack.SmallMachine, Architecture: new(v1beta1constants.ArchitectureAMD64),
			Image: &gardencorev1beta1.ShootMachineImage{Name: r.MachineImage, Version: new(openstack.PreviousImage)},
		},
	}
}

// raw encodes a configuration of ours, which always succeeds.
func raw(config any) *runtime.RawExtension {
	content, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	return &runtime.RawExtension{Raw: content}
}

// get reads a Shoot.
func (r *run) get(ctx context.Context, s *shoot) (*gardencorev1beta1.Shoot, error) {
	found := &gardencorev1beta1.Shoot{}
	if err := r.garden.Get(ctx, s.key(), found); err != nil {
		return nil, err
	}
	return found, nil
}

// change changes a Shoot, as a user does by kubectl edit.
func (r *run) change(ctx context.Context, s *shoot, change func(*gardencorev1beta1.Shoot)) error {
	found, err := r.get(ctx, s)
	if err != nil {
		return fmt.Errorf("reading Shoot %s: %w", s.name, err)
	}
	patch := client.MergeFrom(found.DeepCopy())
	change(found)
	if err := r.garden.Patch(ctx, found, patch); err != nil {
		return fmt.Errorf("changing Shoot %s: %w", s.name, err)
	}
	return nil
}

// request requests an operation by the Shoot's annotation.
func (r *run) request(ctx context.Context, s *shoot, operation string) error {
	return r.change(ctx, s, func(shoot *gardencorev1beta1.Shoot) {
		metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, v1beta1constants.GardenerOperation, operation)
	})
}

// unsettled says why gardenlet has not finished its work for a Shoot; empty if it has.
func unsettled(shoot *gardencorev1beta1.Shoot) string {
	operation := shoot.Status.LastOperation
	switch {
	case shoot.Annotations[v1beta1constants.GardenerOperation] != "":
		return "operation " + shoot.Annotations[v1beta1constants.GardenerOperation] + " is requested"
	case operation == nil:
		return "gardenlet has not begun"
	case shoot.Status.ObservedGeneration != shoot.Generation:
		return "gardenlet has not seen the change"
	case operation.State != gardencorev1beta1.LastOperationStateSucceeded:
		return describe(shoot)
	default:
		return ""
	}
}

// describe is the Shoot's last operation in a line.
func describe(shoot *gardencorev1beta1.Shoot) string {
	operation := shoot.Status.LastOperation
	if operation == nil {
		return "no operation"
	}
	return fmt.Sprintf("%s %s %d%% %s", operation.Type, operation.State, operation.Progress, strings.Join(strings.Fields(operation.Description), " "))
}

// awaitSettled waits until gardenlet has finished its work for a Shoot.
func (r *run) awaitSettled(ctx context.Context, s *shoot) error {
	return r.await(ctx, "Shoot "+s.name+" to be reconciled", func(ctx context.Context) (string, error) {
		found, err := r.get(ctx, s)
		if err != nil {
			return "", err
		}
		if why := unsettled(found); why != "" {
			return why, errors.Join(append([]error{errors.New(why)}, lastErrors(found)...)...)
		}
		return "", nil
	})
}

func lastErrors(shoot *gardencorev1beta1.Shoot) []error {
	var failures []error
	for _, last := range shoot.Status.LastErrors {
		failures = append(failures, errors.New(strings.Join(strings.Fields(last.Description), " ")))
	}
	return failures
}

// awaitGone waits until a Shoot is deleted.
func (r *run) awaitGone(ctx context.Context, s *shoot) error {
	return r.await(ctx, "the deletion of Shoot "+s.name, func(ctx context.Context) (string, error) {
		found, err := r.get(ctx, s)
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return describe(found), errors.Join(append([]error{errors.New(describe(found))}, lastErrors(found)...)...)
	})
}

// client connects to a Shoot's API server.
func (r *run) shootClient(s *shoot) (client.Client, error) {
	var failures []error
	for _, seed := range r.seeds {
		config, err := seed.machines.Config(s.technicalID())
		if err != nil {
			failures = append(failures, err)
			continue
		}
		return client.New(config, client.Options{Scheme: kubernetes.ShootScheme})
	}
	return nil, errors.Join(failures...)
}

// listNodes lists the Nodes of a shoot.
func (r *run) listNodes(ctx context.Context, s *shoot) ([]corev1.Node, error) {
	shoot, err := r.shootClient(s)
	if err != nil {
		return nil, err
	}
	list := &corev1.NodeList{}
	err = shoot.List(ctx, list)
	return list.Items, err
}
