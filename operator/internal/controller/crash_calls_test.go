package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/internal/engine"
)

// how a call ends: it is refused, the process ends before it, or behind it.
type ending string

const (
	refused    ending = "is refused"
	endsBefore ending = "is never sent"
	endsBehind ending = "is the last"
)

var (
	errRefused = errors.New("refused for this once")
	errGone    = errors.New("the process has ended")
)

// call is one that the operator makes. Those of one name are counted, because some are made side by side.
type call struct {
	name   string
	writes bool
}

func (s *stage) read(name string, do func() error) error  { return s.call(call{name, false}, do) }
func (s *stage) write(name string, do func() error) error { return s.call(call{name, true}, do) }

func (s *stage) call(c call, do func() error) error {
	gone, how := s.endingOf(c)
	switch {
	case gone || how == endsBefore:
		return errGone
	case how == refused:
		return errRefused
	}
	err := do()
	if how == endsBehind {
		return errGone
	}
	return err
}

// endingOf says whether the process had ended before the call, and what becomes of it otherwise.
func (s *stage) endingOf(c call) (bool, ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return true, endsBefore
	}
	s.times[c.name]++
	c.name = fmt.Sprintf("%s, time %d", c.name, s.times[c.name])
	s.calls = append(s.calls, c)
	if c.name != s.at || s.tripped {
		return false, ""
	}
	s.tripped, s.gone = true, s.how != refused
	return false, s.how
}

// tappedAPI is the API server, seen by the operator.
type tappedAPI struct {
	client.Client
	stage *stage
}

func (t *tappedAPI) Get(ctx context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	return t.stage.read(fmt.Sprintf("get %T %s", o, key.Name), func() error { return t.stage.store.Get(ctx, key, o) })
}

func (t *tappedAPI) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return t.stage.read(fmt.Sprintf("list %T", list), func() error { return t.stage.store.List(ctx, list, opts...) })
}

func (t *tappedAPI) Create(ctx context.Context, o client.Object, _ ...client.CreateOption) error {
	return t.stage.write(fmt.Sprintf("create %T %s", o, o.GetName()), func() error { return t.stage.store.Create(ctx, o) })
}

func (t *tappedAPI) Update(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
	return t.stage.write(fmt.Sprintf("update %T %s", o, o.GetName()), func() error { return t.stage.store.Update(ctx, o) })
}

func (t *tappedAPI) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return t.stage.write(fmt.Sprintf("delete %T %s", o, o.GetName()), func() error { return t.stage.store.Delete(ctx, o, opts...) })
}

func (t *tappedAPI) Patch(ctx context.Context, o client.Object, p client.Patch, _ ...client.PatchOption) error {
	return t.stage.write(fmt.Sprintf("patch %T %s", o, o.GetName()), func() error { return t.stage.store.Patch(ctx, o, p) })
}

func (t *tappedAPI) Apply(ctx context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	name := *o.(interface{ GetName() *string }).GetName()
	return t.stage.write(fmt.Sprintf("apply %T %s", o, name), func() error { return t.stage.store.Apply(ctx, o) })
}

func (t *tappedAPI) Status() client.SubResourceWriter { return tappedStatus{stage: t.stage} }

type tappedStatus struct {
	client.SubResourceWriter
	stage *stage
}

func (t tappedStatus) Update(ctx context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return t.stage.write(fmt.Sprintf("update the status of %T", o), func() error { return t.stage.store.Status().Update(ctx, o) })
}

// tappedServers are the world's, seen by the operator.
type tappedServers struct{ stage *stage }

func (t *tappedServers) Connect(target engine.Target) (engine.Server, error) {
	pod := target.Name[len("shop/demo/"):]
	return &tapped{t.stage, pod, guarded{t.stage.world.Server(pod), t.stage, pod, target.Password}}, nil
}

func (t *tappedServers) Forget(func(string) bool) {}

type tapped struct {
	stage  *stage
	name   string
	server engine.Server
}

func (t *tapped) Status(ctx context.Context) (status engine.Status, err error) {
	err = t.stage.read(t.name+": status", func() error { status, err = t.server.Status(ctx); return err })
	return status, err
}

func (t *tapped) Began(ctx context.Context) (began time.Time, err error) {
	err = t.stage.read(t.name+": began", func() error { began, err = t.server.Began(ctx); return err })
	return began, err
}

func (t *tapped) Initialize(ctx context.Context) error {
	return t.stage.write(t.name+": INITIALIZE", func() error { return t.server.Initialize(ctx) })
}

func (t *tapped) Fence(ctx context.Context, epoch int64) error {
	return t.stage.write(t.name+": FENCE", func() error { return t.server.Fence(ctx, epoch) })
}

func (t *tapped) Promote(ctx context.Context, epoch int64, q engine.Quorum) error {
	return t.stage.write(t.name+": PROMOTE", func() error { return t.server.Promote(ctx, epoch, q) })
}

func (t *tapped) Follow(ctx context.Context, epoch int64, source engine.Source) error {
	return t.stage.write(t.name+": FOLLOW", func() error { return t.server.Follow(ctx, epoch, source) })
}

func (t *tapped) Clone(ctx context.Context, uuid string, donor engine.Source) error {
	return t.stage.write(t.name+": CLONE", func() error { return t.server.Clone(ctx, uuid, donor) })
}

func (t *tapped) CloneProgress(ctx context.Context) (done, estimate int64, err error) {
	err = t.stage.read(t.name+": progress", func() error { done, estimate, err = t.server.CloneProgress(ctx); return err })
	return done, estimate, err
}

func (t *tapped) SetQuorum(ctx context.Context, epoch, version int64, q engine.Quorum) error {
	return t.stage.write(t.name+": QUORUM", func() error { return t.server.SetQuorum(ctx, epoch, version, q) })
}

func (t *tapped) EnsureAccounts(ctx context.Context, database string, accounts []engine.Account) error {
	return t.stage.write(t.name+": accounts", func() error { return t.server.EnsureAccounts(ctx, database, accounts) })
}

func (t *tapped) GlobalVariables(ctx context.Context, names []string) (values map[string]string, err error) {
	err = t.stage.read(t.name+": variables", func() error { values, err = t.server.GlobalVariables(ctx, names); return err })
	return values, err
}

func (t *tapped) SetGlobal(ctx context.Context, name string, value *string) error {
	return t.stage.write(t.name+": SET GLOBAL "+name, func() error { return t.server.SetGlobal(ctx, name, value) })
}

func (t *tapped) Close() error { return nil }
