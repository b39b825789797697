package core

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Cloud is the part of the cloud that all services share.
type Cloud struct {
	*wire.Tap

	models  map[string]*model.Service
	actions map[string]map[string]Action // by service and name

	Mu          sync.Mutex // guards everything below, and the state of all services
	Config      Config
	keys        map[string]AccessKey
	denied      map[string]bool // "service:Action"
	answered    map[string]answered
	pending     map[string]*transition // by ID of the resource
	clockOffset time.Duration
}

// New returns a cloud without services.
func New(settings Config) (*Cloud, error) {
	models := settings.Models
	if models == nil {
		var err error
		if models, err = model.Load(); err != nil {
			return nil, fmt.Errorf("loading the models of services: %w", err)
		}
	}
	return &Cloud{
		Tap: new(wire.Tap), models: models, actions: map[string]map[string]Action{}, Config: settings, keys: map[string]AccessKey{},
		denied: map[string]bool{}, answered: map[string]answered{}, pending: map[string]*transition{},
	}, nil
}

// Register adds the actions of a service. Their names, and the members that they read, must be in its model.
func (c *Cloud) Register(service string, actions map[string]Action) error {
	for name, action := range actions {
		operation := c.models[service].Operations[name]
		if operation == nil {
			return fmt.Errorf("registering %s of %s: it is not in the model", name, service)
		}
		for member := range strings.FieldsSeq(action.Reads) {
			if operation.Input.Members[member] == nil {
				return fmt.Errorf("registering %s of %s: its input has no member %s in the model", name, service, member)
			}
		}
	}
	c.actions[service] = actions
	return nil
}

// NotImplemented lists the operations that are in the models and not in the fake, such as "ec2:CreateVpc", sorted.
func (c *Cloud) NotImplemented() []string {
	var out []string
	for name, service := range c.models {
		for operation := range service.Operations {
			if _, implemented := c.actions[name][operation]; !implemented {
				out = append(out, name+":"+operation)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Now is the cloud's clock. The caller holds the lock.
func (c *Cloud) Now() time.Time {
	return time.Now().Add(c.clockOffset).UTC().Truncate(time.Millisecond)
}

// SetClockOffset makes the cloud's clock differ from that of this machine.
func (c *Cloud) SetClockOffset(offset time.Duration) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.clockOffset = offset
}

// NewID returns an ID such as "vpc-0123456789abcdef0".
func (c *Cloud) NewID(prefix string) string { return prefix + "-0" + randomHex(8) }

// ARN returns the name of a resource of the account. A resource of IAM has no region.
func (c *Cloud) ARN(service, region, resource string) string {
	return "arn:" + c.Config.Partition + ":" + service + ":" + region + ":" + c.Config.AccountID + ":" + resource
}

// HasRoom reports whether one more resource is within the quota; without a quota there is always room.
func (c *Cloud) HasRoom(quota string, used int) bool {
	limit, limited := c.Config.Quotas[quota]
	return !limited || used < limit
}

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// NewRequestID returns an ID as requests have.
func NewRequestID() string {
	h := randomHex(16)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
