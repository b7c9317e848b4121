package boot

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot/internal/starters"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A fakeStore notes which calls were made. One of them fails, if it has the name broken.
type fakeStore struct {
	broken string
	values map[string]string
	calls  []string
}

func (s *fakeStore) call(name string) error {
	s.calls = append(s.calls, name)
	if name == s.broken {
		return fmt.Errorf("%s does not work", name)
	}
	return nil
}

func (s *fakeStore) Name() string                              { return "PMI-0" }
func (s *fakeStore) Put(context.Context, string, string) error { return s.call("put") }
func (s *fakeStore) Fence(context.Context) error               { return s.call("fence") }
func (s *fakeStore) Close(context.Context) error               { return s.call("close") }
func (s *fakeStore) Abandon()                                  { s.call("abandon") }

func (s *fakeStore) Get(_ context.Context, key string) (string, error) {
	return s.values[key], s.call("get")
}

// TestStoreIsAbandonedAfterAnError has stores that fail, or say what cannot be: a rank gives
// them up without closing them, since their manager would kill it.
func TestStoreIsAbandonedAfterAnError(t *testing.T) {
	told := map[string]string{storeRendezvous: "h:1", storeKey: auth.NewKey().Text()}
	for _, c := range []struct {
		rank   int
		given  bool
		broken string
		calls  string
	}{
		{0, false, "put", "put abandon"},
		{0, false, "fence", "put put fence abandon"},
		{0, false, "close", "put put fence close"}, // which abandons it itself
		{1, false, "fence", "fence abandon"},
		{1, false, "get", "fence get abandon"},
		{1, true, "", "fence get get abandon"},
		{1, false, "close", "fence get get close"},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			s := &fakeStore{broken: c.broken, values: told}
			plan := networkPlan{serves: c.rank == 0}
			plan.info.Size, plan.meeting.patience = 2, longestJoin
			_, err := plan.overStore(testenv.Context(t), s, newEnvironment(lookupIn(nil)), c.given, netip.Addr{})
			if calls := strings.Join(s.calls, " "); err == nil || calls != c.calls {
				t.Errorf("%v after the calls %q, want an error after %q", err, calls, c.calls)
			}
			if c.broken != "" && !strings.Contains(err.Error(), c.broken+" does not work") || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestVariablesAreCheckedBeforeTheManager gives a process a variable that makes no sense: it ends
// with a sentence, and its manager has not heard of it.
func TestVariablesAreCheckedBeforeTheManager(t *testing.T) {
	for variable, value := range map[string]string{
		EnvRendezvous: "h", EnvJob: "a/b", EnvHost: "", EnvInterface: "/x/", EnvPorts: "9-8", EnvTLS: "yes",
		EnvHeartbeat: "soon", EnvJoinTimeout: "x", EnvKey: "secret", EnvKeyFile: "/nowhere/key", starters.PMIID: "x",
	} {
		t.Run(variable, func(t *testing.T) {
			m := startManager(t, 2, "")
			said, failed := runRanks(t, 1, func(int) []string {
				return []string{"PMI_PORT=" + m.listener.Addr().String(), "PMI_ID=0", fmt.Sprintf("%s=%s", variable, value)}
			})
			if failed != 1 || !strings.HasPrefix(said[0], variable) || strings.Contains(said[0], "\n") {
				t.Errorf("%d failed: %q; want one line that begins with %s", failed, said[0], variable)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.heard != 0 {
				t.Errorf("the manager has heard %d lines", m.heard)
			}
		})
	}
}

func TestReferralsAsText(t *testing.T) {
	want := referral{[]string{"h:1", "[::1]:2"}, "a key"}
	if got, err := parseReferral(want.text()); err != nil || !reflect.DeepEqual(got, want) || want.text() != "h:1,[::1]:2\na key" {
		t.Errorf("%q was read as %+v, %v", want.text(), got, err)
	}
	if got, err := parseReferral("h:1"); err == nil {
		t.Errorf("a referral without a key was read as %+v", got)
	}
}
