package controller

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memory is an API server as far as the operator uses one: resourceVersions and UIDs are checked, a pod that is deleted is there until
// the kubelet has ended it, and whoever asks for anything else finds nothing (the embedded client is nil). Objects are replaced and
// never changed in place, so that copies of a server share them: thousands of plays begin with the same objects.
type memory struct {
	client.Client
	objects map[objectKey]client.Object
	// applied is what was applied last: applying it again changes nothing.
	applied map[objectKey]string
	version int
}

type objectKey struct {
	kind reflect.Type
	client.ObjectKey
}

func newMemory() *memory {
	return &memory{objects: map[objectKey]client.Object{}, applied: map[objectKey]string{}}
}

func (m *memory) copy() *memory {
	return &memory{objects: maps.Clone(m.objects), applied: maps.Clone(m.applied), version: m.version}
}

func keyOf(o client.Object) objectKey {
	return objectKey{reflect.TypeOf(o), client.ObjectKeyFromObject(o)}
}

var (
	notFound = apierrors.NewNotFound(schema.GroupResource{}, "it")
	exists   = apierrors.NewAlreadyExists(schema.GroupResource{}, "it")
	conflict = apierrors.NewConflict(schema.GroupResource{}, "it", fmt.Errorf("somebody else has changed it"))
)

func copyOf[O client.Object](o O) O { return o.DeepCopyObject().(O) }

func assign(to, from any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }

// store keeps an object under a new version, which the caller is told.
func (m *memory) store(o client.Object) {
	m.version++
	o.SetResourceVersion(strconv.Itoa(m.version))
	m.objects[keyOf(o)] = copyOf(o)
}

func (m *memory) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	found, there := m.objects[objectKey{reflect.TypeOf(o), key}]
	if !there {
		return notFound
	}
	assign(o, copyOf(found))
	return nil
}

func (m *memory) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(opts)
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	var found []client.Object
	for key, o := range m.objects {
		if key.kind == reflect.PointerTo(items.Type().Elem()) && key.Namespace == asked.Namespace && asked.LabelSelector.Matches(labels.Set(o.GetLabels())) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b client.Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	items.SetLen(0)
	for _, o := range found {
		items.Set(reflect.Append(items, reflect.ValueOf(copyOf(o)).Elem()))
	}
	return nil
}

func (m *memory) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	if m.objects[keyOf(o)] != nil {
		return exists
	}
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprint("object ", m.version)))
	}
	if secret, ok := o.(*corev1.Secret); ok {
		storeAsData(secret)
	}
	m.store(o)
	return nil
}

func storeAsData(secret *corev1.Secret) {
	secret.Data = map[string][]byte{}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

// current is the object that is stored, if the caller knows its last version.
func (m *memory) current(o client.Object) (client.Object, error) {
	now := m.objects[keyOf(o)]
	switch {
	case now == nil:
		return nil, notFound
	case now.GetResourceVersion() != o.GetResourceVersion():
		return nil, conflict
	}
	return now, nil
}

// Update is a person's: the spec; or ends a StatefulSet's pods. What was applied before is applied anew then.
func (m *memory) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	if _, err := m.current(o); err != nil {
		return err
	}
	delete(m.applied, keyOf(o))
	m.store(o)
	return nil
}

// Delete ends pods with some grace, and everything else at once.
func (m *memory) Delete(_ context.Context, o client.Object, opts ...client.DeleteOption) error {
	asked := (&client.DeleteOptions{}).ApplyOptions(opts)
	now := m.objects[keyOf(o)]
	switch {
	case now == nil:
		return notFound
	case asked.Preconditions != nil && *asked.Preconditions.UID != now.GetUID():
		return conflict
	}
	if _, isPod := o.(*corev1.Pod); isPod {
		leaving := copyOf(now)
		leaving.SetDeletionTimestamp(&metav1.Time{Time: metav1.Now().Time})
		m.store(leaving)
		return nil
	}
	m.remove(now)
	return nil
}

func (m *memory) remove(o client.Object) {
	delete(m.objects, keyOf(o))
	delete(m.applied, keyOf(o))
}

// Patch changes labels.
func (m *memory) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	now := m.objects[keyOf(o)]
	if now == nil {
		return notFound
	}
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	if service, is := now.(*corev1.Service); is {
		return m.patchSelector(service, data)
	}
	var asked struct {
		Metadata struct {
			Labels map[string]*string `json:"labels"`
		} `json:"metadata"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		return err
	}
	changed := copyOf(now)
	all := maps.Clone(changed.GetLabels())
	for name, value := range asked.Metadata.Labels {
		delete(all, name)
		if value != nil {
			all[name] = *value
		}
	}
	changed.SetLabels(all)
	m.store(changed)
	return nil
}

func (m *memory) patchSelector(now *corev1.Service, data []byte) error {
	var asked []struct {
		Op, Path string
		Value    map[string]string
	}
	if err := json.Unmarshal(data, &asked); err != nil {
		return err
	}
	if len(asked) != 1 || asked[0].Path != "/spec/selector" {
		return fmt.Errorf("nobody has patched a Service so before: %s", data)
	}
	changed := now.DeepCopy()
	changed.Spec.Selector = asked[0].Value
	m.store(changed)
	return nil
}

// Apply replaces what was applied before: nobody but the operator applies anything here. What it leaves out stays with whoever has
// patched it.
func (m *memory) Apply(_ context.Context, configuration runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	data, err := json.Marshal(configuration)
	if err != nil {
		return err
	}
	o, err := emptyOf(*configuration.(interface{ GetKind() *string }).GetKind())
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, o); err != nil {
		return err
	}
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	key := keyOf(o)
	if m.applied[key] == string(data) {
		return m.answer(configuration, m.objects[key])
	}
	m.applied[key] = string(data)
	o.SetUID(types.UID("applied " + o.GetName()))
	if service, is := o.(*corev1.Service); is && service.Spec.Selector == nil && m.objects[key] != nil {
		service.Spec.Selector = m.objects[key].(*corev1.Service).Spec.Selector
	}
	m.store(o)
	return m.answer(configuration, o)
}

// answer puts into the configuration what the API server answers.
func (m *memory) answer(configuration runtime.ApplyConfiguration, o client.Object) error {
	return json.Unmarshal(fmt.Appendf(nil, `{"metadata":{"uid":%q,"resourceVersion":%q}}`, o.GetUID(), o.GetResourceVersion()), configuration)
}

func emptyOf(kind string) (client.Object, error) {
	switch kind {
	case "StatefulSet":
		return &appsv1.StatefulSet{}, nil
	case "Service":
		return &corev1.Service{}, nil
	case "ServiceAccount":
		return &corev1.ServiceAccount{}, nil
	case "PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}, nil
	}
	return nil, fmt.Errorf("nobody has applied a %s before", kind)
}

// Status is how the status is written.
func (m *memory) Status() client.SubResourceWriter { return statusOf{memory: m} }

type statusOf struct {
	client.SubResourceWriter
	memory *memory
}

func (s statusOf) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	now, err := s.memory.current(o)
	if err != nil {
		return err
	}
	changed := copyOf(now)
	field := func(o client.Object) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Status") }
	field(changed).Set(field(copyOf(o)))
	s.memory.store(changed)
	assign(o, copyOf(changed))
	return nil
}
