package machine

import (
	"sync"
	"time"
)

// accountTTL is how long an unused account is kept: credentials change.
const accountTTL = time.Hour

// Accounts has what all machines of an account share, by the account's session. The zero value is empty. It is safe for concurrent use.
type Accounts[Session comparable, Account any] struct {
	mu       sync.Mutex
	accounts map[Session]*usedAccount[Account]
}

type usedAccount[Account any] struct {
	account  Account
	lastUsed time.Time
}

// Get returns the account of a session, which it makes if there is none yet.
func (a *Accounts[Session, Account]) Get(session Session, create func() Account) Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for key, other := range a.accounts {
		if now.Sub(other.lastUsed) > accountTTL {
			delete(a.accounts, key)
		}
	}
	used, ok := a.accounts[session]
	if !ok {
		used = &usedAccount[Account]{account: create()}
		if a.accounts == nil {
			a.accounts = map[Session]*usedAccount[Account]{}
		}
		a.accounts[session] = used
	}
	used.lastUsed = now
	return used.account
}
