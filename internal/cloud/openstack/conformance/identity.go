package conformance

import (
	"net/http"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func logins() []Behaviour {
	return slices.Concat(passwords(), tokens(), accounts(), applicationCredentials(), credentialLifecycle())
}

func passwords() []Behaviour {
	return []Behaviour{
		behaviour("a password opens a project, by names and by IDs", func(c *Case) {
			byNames := c.requestToken(byPassword(
				Body{"name": c.Login.User, "password": c.Login.Password, "domain": inDefault()}, project(c.Login.Project)))
			token := byNames.RequireStatus(http.StatusCreated)
			assert.NotEmpty(c, issuedToken(byNames))
			assert.Equal(c, c.Member.UserID, token.Text("user.id"))
			assert.Equal(c, c.Member.ProjectID, token.Text("project.id"))
			assert.Equal(c, "default", token.Text("project.domain.id"))
			assert.ElementsMatch(c, []string{"member", "reader", "load-balancer_member"}, calledOf(token.Objects("roles")))

			byIDs := c.requestToken(byPassword(
				Body{"id": c.Member.UserID, "password": c.Login.Password}, Body{"project": Body{"id": c.Member.ProjectID}}))
			assert.Equal(c, c.Member.ProjectID, byIDs.RequireStatus(http.StatusCreated).Text("project.id"))
			assert.NotEqual(c, issuedToken(byNames), issuedToken(byIDs), "every login has a token of its own")
		}),
		behaviour("a token tells when it was issued and when it ends", func(c *Case) {
			token := c.requestToken(PasswordLogin(c.Login)).RequireStatus(http.StatusCreated)
			issuedAt, endsAt := instant(c, token.Text("issued_at")), instant(c, token.Text("expires_at"))
			assert.WithinDuration(c, time.Now(), issuedAt, time.Minute)
			assert.Greater(c, endsAt.Sub(issuedAt), 10*time.Minute)
			assert.LessOrEqual(c, endsAt.Sub(issuedAt), 24*time.Hour)
		}),
		behaviour("names of domains do not mind capitals, and a domain is found by its ID", func(c *Case) {
			for _, domain := range []Body{{"name": "DEFAULT"}, {"id": "default"}} {
				c.requestToken(byPassword(
					Body{"name": c.Login.User, "password": c.Login.Password, "domain": domain},
					Body{"project": Body{"name": c.Login.Project, "domain": domain}})).RequireStatus(http.StatusCreated)
			}
		}),
		behaviour("whoever may not come in is not told why", func(c *Case) {
			me := Body{"name": c.Login.User, "password": c.Login.Password, "domain": inDefault()}
			home := project(c.Login.Project)
			for _, body := range []Body{
				byPassword(Body{"name": c.Login.User, "password": "wrong", "domain": inDefault()}, home),
				byPassword(Body{"id": c.Member.UserID, "password": "wrong"}, home),
				byPassword(Body{"name": c.Login.User, "domain": inDefault()}, home),
				byPassword(Body{"name": "nobody-" + c.Login.User, "password": c.Login.Password, "domain": inDefault()}, home),
				byPassword(Body{"name": c.Login.User, "password": c.Login.Password, "domain": Body{"name": "elsewhere"}}, home),
				byPassword(me, project("nothing-"+c.Login.Project)),
				byPassword(me, project(c.OtherLogin.Project)),
				byPassword(me, Body{"project": Body{"id": c.OtherMember.ProjectID}}),
				byPassword(me, Body{"domain": Body{"id": "default"}}),
			} {
				response := c.requestToken(body).AssertError(http.StatusUnauthorized, "Unauthorized")
				response.AssertMessage("The request you have made requires authentication.")
				assert.Contains(c, response.Header.Get("WWW-Authenticate"), `Keystone uri="http`)
			}
		}),
		behaviour("a login that is none is told what is missing", func(c *Case) {
			home := project(c.Login.Project)
			for _, wrong := range []struct {
				body     any
				wantText string
			}{
				{Body{}, "Expecting to find auth in request body."},
				{byPassword(Body{"name": c.Login.User, "password": c.Login.Password}, home), "Expecting to find domain in user."},
				{byPassword(Body{"password": c.Login.Password}, home), "id or name must be present"},
				{byPassword(Body{"name": c.Login.User, "password": c.Login.Password, "domain": inDefault()},
					Body{"project": Body{"name": c.Login.Project}}), "Expecting to find domain in project."},
				{Body{"auth": Body{"identity": Body{"methods": []string{"password"}}}}, "Expecting to find password in identity."},
				{`{"auth": `, "Expecting to find valid JSON in request body."},
				{`[]`, "Expecting to find valid JSON in request body."},
			} {
				c.requestToken(wrong.body).AssertError(http.StatusBadRequest, "Bad Request").AssertMessage("%s", wrong.wantText)
			}
			c.requestToken(byMethod("magic", Body{}, home)).AssertError(http.StatusUnauthorized, "Unauthorized").AssertMessage("unsupported method")
			c.requestToken(Body{"auth": Body{"identity": Body{"methods": []string{}}}}).AssertError(http.StatusUnauthorized, "Unauthorized")
		}),
		behaviour("a login without a project opens the user's default project, or none, and lists those that there are", func(c *Case) {
			me := Body{"name": c.Login.User, "password": c.Login.Password, "domain": inDefault()}
			home := c.requestToken(byPassword(me, nil)).RequireStatus(http.StatusCreated)
			assert.Equal(c, c.Member.ProjectID, home.Text("project.id"))
			account := c.Account() // whose user has no default project
			for _, body := range []Body{
				byPassword(me, "unscoped"),
				byPassword(Body{"name": account.User, "password": account.Password, "domain": inDefault()}, nil),
			} {
				response := c.requestToken(body)
				token := response.RequireStatus(http.StatusCreated)
				assert.Nil(c, token["project"])
				assert.Nil(c, token["roles"])
				assert.Len(c, c.withToken(issuedToken(response)).Get(Identity, "/v3/auth/projects").List("projects"), 1)
			}
		}),
	}
}

func tokens() []Behaviour {
	return []Behaviour{
		behaviour("a token buys another, which ends when the first does", func(c *Case) {
			first := c.requestToken(PasswordLogin(c.Login))
			second := c.requestToken(byMethod("token", Body{"id": issuedToken(first)}, project(c.Login.Project)))
			token := second.RequireStatus(http.StatusCreated)
			assert.Equal(c, first.object().Text("expires_at"), token.Text("expires_at"))
			assert.ElementsMatch(c, []string{"password", "token"}, token.Texts("methods"))
			c.requestToken(byMethod("token", Body{"id": issuedToken(first)}, project(c.OtherLogin.Project))).
				AssertError(http.StatusUnauthorized, "Unauthorized")
			c.requestToken(byMethod("token", Body{"id": "rubbish"}, project(c.Login.Project))).AssertError(http.StatusNotFound, "Not Found")
		}),
		behaviour("a token tells about itself, and about others only to operators", func(c *Case) {
			const path = "/v3/auth/tokens?nocatalog"
			validated := c.Member.Get(Identity, path, "X-Subject-Token", c.Member.token).RequireStatus(http.StatusOK)
			assert.Equal(c, c.Member.UserID, validated.Text("user.id"))
			c.Operator.Get(Identity, path, "X-Subject-Token", c.Member.token).RequireStatus(http.StatusOK)
			c.OtherMember.Get(Identity, path, "X-Subject-Token", c.Member.token).AssertError(http.StatusForbidden, "Forbidden")
			c.Member.Get(Identity, path).AssertError(http.StatusForbidden, "Forbidden")
			c.Member.Get(Identity, path, "X-Subject-Token", "rubbish").AssertError(http.StatusNotFound, "Not Found")
			c.Anonymous().Get(Identity, path, "X-Subject-Token", c.Member.token).AssertError(http.StatusUnauthorized, "Unauthorized")
		}),
		behaviour("without a token, and with rubbish for one, every service says where its Keystone is", func(c *Case) {
			for _, caller := range []*Caller{c.Anonymous(), c.withToken("rubbish")} {
				for _, at := range c.requestsToAllServices() {
					response := caller.Get(at.service, at.path)
					assert.Equalf(c, http.StatusUnauthorized, response.Status, "%s: %s", response.request, response.Raw)
					assert.Contains(c, response.Header.Get("WWW-Authenticate"), `Keystone uri="http`)
				}
			}
		}),
		behaviour("a token that was given back is refused by whoever has not seen it before", func(c *Case) {
			caller := c.LogIn(c.Login)
			c.OtherMember.Delete(Identity, "/v3/auth/tokens", "X-Subject-Token", caller.token).AssertError(http.StatusForbidden, "Forbidden")
			caller.Delete(Identity, "/v3/auth/tokens").AssertError(http.StatusForbidden, "Forbidden")
			caller.Delete(Identity, "/v3/auth/tokens", "X-Subject-Token", caller.token).RequireStatus(http.StatusNoContent)
			c.assertTokenRejected(caller)
			c.Operator.Get(Identity, "/v3/auth/tokens", "X-Subject-Token", caller.token).AssertError(http.StatusNotFound, "Not Found")
			c.Member.Get(Identity, "/v3/auth/tokens?nocatalog", "X-Subject-Token", c.Member.token).RequireStatus(http.StatusOK)
		}),
	}
}

func accounts() []Behaviour {
	return []Behaviour{
		behaviour("a new password ends the tokens of the old one", func(c *Case) {
			account := c.Account()
			old := c.LogIn(account.Login)
			path := "/v3/users/" + account.UserID
			old.Post(Identity, path+"/password", Body{"user": Body{"password": "second", "original_password": "wrong"}}).
				AssertError(http.StatusUnauthorized, "Unauthorized")
			old.Post(Identity, path+"/password", Body{"user": Body{"password": "second", "original_password": "first"}}).
				RequireStatus(http.StatusNoContent)
			c.assertTokenRejected(old)
			c.requestToken(PasswordLogin(account.Login)).AssertError(http.StatusUnauthorized, "Unauthorized")

			account.Password = "second"
			settled := c.loginUntilValid(account.Login)
			c.Operator.Patch(Identity, path, Body{"user": Body{"password": "third"}}).RequireStatus(http.StatusOK)
			c.assertTokenRejected(settled)
			account.Password = "third"
			c.requestToken(PasswordLogin(account.Login)).RequireStatus(http.StatusCreated)
		}),
		behaviour("a disabled user is nobody, and whole again when enabled", func(c *Case) {
			account := c.Account()
			old := c.LogIn(account.Login)
			path := "/v3/users/" + account.UserID
			c.Operator.Patch(Identity, path, Body{"user": Body{"enabled": false}}).RequireStatus(http.StatusOK)
			c.assertTokenRejected(old)
			c.requestToken(PasswordLogin(account.Login)).AssertError(http.StatusUnauthorized, "Unauthorized")
			c.Operator.Patch(Identity, path, Body{"user": Body{"enabled": true}}).RequireStatus(http.StatusOK)
			c.requestToken(PasswordLogin(account.Login)).RequireStatus(http.StatusCreated)
		}),
		behaviour("a disabled project is closed to everybody in it", func(c *Case) {
			account := c.Account()
			old := c.LogIn(account.Login)
			path := "/v3/projects/" + account.ProjectID
			c.Operator.Patch(Identity, path, Body{"project": Body{"enabled": false}}).RequireStatus(http.StatusOK)
			old.Get(Network, "/v2.0/networks?name=none").AssertError(http.StatusUnauthorized, "Unauthorized")
			c.requestToken(PasswordLogin(account.Login)).AssertError(http.StatusUnauthorized, "Unauthorized")
			c.Operator.Patch(Identity, path, Body{"project": Body{"enabled": true}}).RequireStatus(http.StatusOK)
			c.requestToken(PasswordLogin(account.Login)).RequireStatus(http.StatusCreated)
		}),
		behaviour("who loses his role in a project does not come in again until he has one", func(c *Case) {
			account := c.Account()
			role := c.memberRole(account)
			c.Operator.Delete(Identity, role).RequireStatus(http.StatusNoContent)
			c.requestToken(PasswordLogin(account.Login)).AssertError(http.StatusUnauthorized, "Unauthorized")
			c.Operator.Delete(Identity, role).AssertError(http.StatusNotFound, "Not Found")
			c.Operator.Put(Identity, role, nil).RequireStatus(http.StatusNoContent)
			c.requestToken(PasswordLogin(account.Login)).RequireStatus(http.StatusCreated)
		}),
		behaviour("projects, users and roles are the operators' business", func(c *Case) {
			account := c.Account()
			for _, refused := range []*Response{
				c.Member.Get(Identity, "/v3/projects"),
				c.Member.Post(Identity, "/v3/projects", Body{"project": Body{"name": "mine", "domain_id": "default"}}),
				c.Member.Delete(Identity, "/v3/projects/"+account.ProjectID),
				c.Member.Get(Identity, "/v3/users"),
				c.Member.Post(Identity, "/v3/users", Body{"user": Body{"name": "mine", "domain_id": "default"}}),
				c.Member.Get(Identity, "/v3/users/"+account.UserID),
				c.Member.Patch(Identity, "/v3/users/"+account.UserID, Body{"user": Body{"enabled": false}}),
				c.Member.Delete(Identity, "/v3/users/"+account.UserID),
				c.Member.Get(Identity, "/v3/roles"),
				c.Member.Put(Identity, c.memberRole(account), nil),
			} {
				refused.AssertError(http.StatusForbidden, "Forbidden").AssertMessage("You are not authorized to perform the requested action: identity:")
			}
			c.Member.Get(Identity, "/v3/users/"+c.Member.UserID).RequireStatus(http.StatusOK)
			c.Operator.Get(Identity, "/v3/projects/"+account.ProjectID).RequireStatus(http.StatusOK)
			c.Operator.Get(Identity, "/v3/users/"+account.UserID).RequireStatus(http.StatusOK)
			c.Operator.Post(Identity, "/v3/projects", Body{"project": Body{"name": account.Project, "domain_id": "default"}}).
				AssertError(http.StatusConflict, "Conflict")
			c.Operator.Post(Identity, "/v3/users", Body{"user": Body{"name": account.User, "domain_id": "default"}}).
				AssertError(http.StatusConflict, "Conflict")
			c.Operator.Delete(Identity, "/v3/projects/"+c.Member.UserID).AssertError(http.StatusNotFound, "Not Found")
			c.Operator.Delete(Identity, "/v3/users/"+c.Member.ProjectID).AssertError(http.StatusNotFound, "Not Found")
		}),
	}
}

// requestsToAllServices is a harmless request to each service.
func (c *Case) requestsToAllServices() []collection {
	return []collection{
		{service: Identity, path: "/v3/auth/projects"},
		{service: Network, path: "/v2.0/networks?name=none"},
		{service: Compute, path: "/v2.1/servers"},
		{service: Image, path: "/v2/images?name=none"},
		{service: Volume, path: "/v3/" + c.Member.ProjectID + "/volumes"},
		{service: LoadBalancer, path: "/v2/lbaas/loadbalancers"},
	}
}

// assertTokenRejected asserts that no service takes a token. It must be the first time that they see it: services remember for some
// minutes that a token was good.
func (c *Case) assertTokenRejected(caller *Caller) {
	c.Helper()
	for _, at := range c.requestsToAllServices() {
		response := caller.Get(at.service, at.path)
		assert.Equalf(c, http.StatusUnauthorized, response.Status, "%s: %s", response.request, response.Raw)
	}
}

// loginUntilValid logs in until the token is good: Keystone counts in seconds, and takes a token that it issues within the second in
// which others were revoked for one of those.
func (c *Case) loginUntilValid(login Login) *Caller {
	c.Helper()
	var caller *Caller
	c.WaitUntil("a token issued after a revocation is good", func() bool {
		caller = c.LogIn(login)
		return caller.Get(Identity, "/v3/auth/projects").Status == http.StatusOK
	})
	return caller
}

func calledOf(objects []Object) []string {
	names := []string{}
	for _, object := range objects {
		names = append(names, object.Text("name"))
	}
	return names
}

func instant(c *Case, text string) time.Time {
	c.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(c, err)
	return at
}
