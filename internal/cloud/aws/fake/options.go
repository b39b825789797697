package fake

import (
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/ec2"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/model"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake/sigv4"
)

// What a new cloud is.
const (
	DefaultRegion    = "eu-west-1"
	DefaultAccountID = "123456789012"
)

// DefaultKey is the access key of the account's user.
func DefaultKey() sigv4.Credentials {
	return sigv4.Credentials{KeyID: "AKIATRELLISEXAMPLE01", Secret: "trellis/fake/secret+key/for/tests/only00"}
}

// Option configures a new cloud.
type Option func(*core.Config)

func defaultConfig() core.Config {
	return core.Config{
		AccountID: DefaultAccountID, Partition: "aws", Region: DefaultRegion, Zones: []string{DefaultRegion + "a", DefaultRegion + "b", DefaultRegion + "c"},
		Transitions: map[string]core.Transition{InstanceForget: {After: time.Hour}},
		ClockSkew:   5 * time.Minute, TokenLifetime: time.Hour, Quotas: ec2.DefaultQuotas(),
	}
}

// WithModels makes clouds share the result of model.Load, which takes longer than all else: for suites that start many.
func WithModels(models map[string]*model.Service) Option {
	return func(c *core.Config) { c.Models = models }
}

// WithRegion sets the region, with three zones.
func WithRegion(region string) Option {
	return func(c *core.Config) { c.Region, c.Zones = region, []string{region + "a", region + "b", region + "c"} }
}

// WithZones sets the availability zones.
func WithZones(zones ...string) Option { return func(c *core.Config) { c.Zones = zones } }

// WithLatency sets the delay of each call, see SetLatency.
func WithLatency(d time.Duration) Option { return func(c *core.Config) { c.Latency = d } }

// WithTransition delays the change of resources, see SetTransition.
func WithTransition(kind string, t Transition) Option {
	return func(c *core.Config) { c.Transitions[kind] = t }
}

// WithLag makes changes visible late, see SetLag.
func WithLag(lag Lag) Option { return func(c *core.Config) { c.Lag = lag } }

// WithQuota limits a resource, see SetQuota.
func WithQuota(name string, limit int) Option {
	return func(c *core.Config) { c.Quotas[name] = limit }
}
