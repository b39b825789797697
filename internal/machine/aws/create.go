package aws

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

const (
	codeMismatch         = "IdempotentParameterMismatch"
	codeInvalidParameter = "InvalidParameterValue"
	// profileAttempts is how often an instance is requested while EC2 may not see its new instance profile yet.
	profileAttempts = 3
	// tokenAttempts is how many tokens of ended instances are passed over in one request.
	tokenAttempts = 5
)

// create returns the machine's instance when it has started. It continues from any partial state.
func (m *machine) create(ctx context.Context) (cloudaws.Instance, error) {
	if err := m.class.validate(); err != nil {
		return cloudaws.Instance{}, err
	}
	instances, fresh := m.account.statuses.Take(m.name)
	if !fresh {
		var err error
		if instances, err = m.find(ctx); err != nil {
			return cloudaws.Instance{}, err
		}
	}
	instance, found := m.choose(instances)
	if found {
		m.log.Info("Adopting an instance", "instance", instance.ID, "state", instance.State)
	} else {
		var err error
		if instance, err = m.launch(ctx, m.nextAttempt(instances)); err != nil {
			return cloudaws.Instance{}, err
		}
	}
	instance, err := m.waitLaunched(ctx, instance)
	if err == nil {
		m.account.created.Put(m.name, instance)
	}
	return instance, err
}

// token is the token of an attempt at the machine.
func (m *machine) token(attempt int) string {
	token := cmp.Or(m.uid, m.name)
	if attempt > 0 {
		token += "-" + strconv.Itoa(attempt)
	}
	return token
}

// nextAttempt is the number of the first attempt whose token may be new: those of instances that have ended are used up.
func (m *machine) nextAttempt(instances []cloudaws.Instance) int {
	next := 0
	for _, instance := range instances {
		of, found := strings.CutPrefix(instance.Token, m.token(0))
		if !found {
			continue
		}
		attempt := 0
		if of != "" {
			number, err := strconv.Atoi(strings.TrimPrefix(of, "-"))
			if err != nil {
				continue
			}
			attempt = number
		}
		next = max(next, attempt+1)
	}
	return next
}

// launch requests the instance. If the instance of the token has ended, it takes the next token.
func (m *machine) launch(ctx context.Context, attempt int) (cloudaws.Instance, error) {
	wanted, err := m.instanceSpec(ctx)
	if err != nil {
		return cloudaws.Instance{}, err
	}
	for last := attempt + tokenAttempts; attempt < last; attempt++ {
		wanted.Token = m.token(attempt)
		instance, err := m.requestInstance(ctx, wanted)
		if err != nil {
			return cloudaws.Instance{}, fmt.Errorf("creating instance: %w", err)
		}
		if !instance.HasEnded() {
			m.log.Info("Created an instance", "instance", instance.ID)
			return instance, nil
		}
		m.log.Info("Trying again after the end of an instance", "instance", instance.ID, "reason", instance.Reason.Code)
	}
	return cloudaws.Instance{}, machineprocess.Failuref(codes.Aborted, "its last %d instances have ended", tokenAttempts)
}

// requestInstance requests the instance of a token. If the token was used for another request, with former user data, that one's instance is the machine's. An
// instance profile that EC2 does not see yet is waited for.
func (m *machine) requestInstance(ctx context.Context, wanted cloudaws.InstanceCreate) (cloudaws.Instance, error) {
	for attempt := 1; ; attempt++ {
		instance, err := m.account.CreateInstance(ctx, wanted)
		switch code := cloudaws.CodeOf(err); {
		case code == codeMismatch:
			return m.findByToken(ctx, wanted.Token)
		case code != codeInvalidParameter || attempt == profileAttempts:
			return instance, err
		}
		select {
		case <-ctx.Done():
			return instance, err
		case <-time.After(m.poll):
		}
	}
}

// findByToken returns the instance of a token. There is one.
func (m *machine) findByToken(ctx context.Context, token string) (cloudaws.Instance, error) {
	instances, err := m.account.ListInstances(ctx, cloudaws.InstanceFilter{Token: token})
	switch {
	case err != nil:
		return cloudaws.Instance{}, err
	case len(instances) == 0:
		return cloudaws.Instance{}, machineprocess.Failuref(codes.Aborted, "an earlier request has created an instance that AWS does not show yet")
	}
	return instances[0], nil
}

// waitLaunched waits until the instance has started, and returns why it has not. It does not wait long for one that has a name: MCM takes a Node that registers
// before the creation returns for that of a former instance.
func (m *machine) waitLaunched(ctx context.Context, instance cloudaws.Instance) (cloudaws.Instance, error) {
	if hasStarted(instance) {
		return instance, nil
	}
	wait, cancel := context.WithTimeout(ctx, m.launchTimeout)
	defer cancel()
	found, err := m.waitFor(wait, instance.ID, &m.account.launches, func(i *cloudaws.Instance) bool {
		return i != nil && (i.HasEnded() || hasStarted(*i))
	})
	switch {
	case err != nil && wait.Err() != nil && ctx.Err() == nil && instance.PrivateDNSName != "":
		m.log.Info("Leaving an instance that has not started yet", "instance", instance.ID)
		return instance, nil
	case err != nil && wait.Err() != nil:
		return instance, machineprocess.Failuref(codes.DeadlineExceeded, "instance %s has no name yet: %w", instance.ID, err)
	case err != nil:
		return instance, fmt.Errorf("waiting for instance %s: %w", instance.ID, err)
	case found.HasEnded():
		return instance, fmt.Errorf("instance %s could not be started: %w", instance.ID, found.Reason.Err())
	}
	return *found, nil
}
