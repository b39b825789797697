package aws

import (
	"context"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/trellis-garden/trellis/internal/cloud/login"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// Session makes the requests of one account in one region. It is shared by all users of that account and safe for concurrent use. All its methods return
// errors of package cloud.
type Session struct {
	region string
	// logins are those of a role; nil for an access key, with which each request is signed.
	logins  *login.Source[aws.Credentials]
	ec2     *ec2.Client
	iam     *iam.Client
	client  *client
	created *creations
	used    atomic.Int64 // when, in Unix nanoseconds
}

// Region returns the session's region.
func (s *Session) Region() string { return s.region }

func (s *Session) touch() { s.used.Store(time.Now().UnixNano()) }

// effect is what a request changes, and what its repetition changes.
type effect int

const (
	// creates: a repetition would create another resource. It is not repeated if the effect of the first attempt is unknown.
	creates effect = iota
	// settles: a repetition leads to the same state, or fails with an error that says so.
	settles
	// reads: nothing changes.
	reads
)

// operation describes a request.
type operation struct {
	service, name string
	effect        effect
	// about are the IDs of the resources that must exist for the request. One that was created just now may not be visible yet.
	about []string
}

func ec2Read(name string) operation { return operation{service: "ec2", name: name, effect: reads} }

func ec2Create(name string, about ...string) operation {
	return operation{service: "ec2", name: name, effect: creates, about: about}
}

func ec2Change(name string, about ...string) operation {
	return operation{service: "ec2", name: name, effect: settles, about: about}
}

// maxResponse bounds one response. The largest are lists of the interfaces of a VPC with some thousand nodes.
const maxResponse = 16 << 20

func (o operation) info() transport.Info {
	info := transport.Info{Service: o.service, Limits: transport.Objects(maxResponse), Reads: o.effect == reads}
	if o.effect != creates {
		info.Retry = transport.RetryAlways
	}
	return info
}

// invoke makes a request, and classifies its error. A request that AWS rejects because it does not see a resource yet that the session has just created, is
// repeated for a few seconds: it had no effect. Without a session it does not know what was created.
//
// The request is a method of an SDK's client. Its type parameters keep the client itself from becoming an interface value.
func invoke[In, Out, Option any](
	ctx context.Context, s *Session, o operation, request func(context.Context, *In, ...func(*Option)) (*Out, error), input *In,
) (*Out, error) {
	var output *Out
	err := s.attempt(ctx, o, func(ctx context.Context) (err error) {
		output, err = request(ctx, input)
		return err
	})
	return output, err
}

// query is invoke for a service with the query protocol.
func (s *Session) query(ctx context.Context, to service, o operation, parameters url.Values, result any) error {
	return s.attempt(ctx, o, func(ctx context.Context) error { return s.client.query(ctx, to, o, parameters, result) })
}

// attempt is what invoke does, without type parameters: there are some eighty instances of invoke in a binary.
func (s *Session) attempt(ctx context.Context, o operation, request func(context.Context) error) error {
	if s != nil {
		s.touch()
	}
	ctx = transport.WithInfo(ctx, o.info())
	for attempt := 1; ; attempt++ {
		err := request(ctx)
		if err == nil {
			return nil
		}
		classified := classify(o, err)
		if s == nil || !s.created.explain(classified, o.about) || !pause(ctx, attempt) {
			return classified
		}
	}
}
