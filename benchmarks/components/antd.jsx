import React from "react";
import { createRoot } from "react-dom/client";
import { Alert, Button, Checkbox, DatePicker, Form, Input, InputNumber, Menu, Pagination, Radio, Rate, Select, Slider, Space, Switch, Table, Tabs, Tag, Tree } from "antd";

const rows = Array.from({ length: 12 }, (_, at) => ({ key: at, name: `Person ${at}`, age: 20 + at, city: ["Rome", "Oslo", "Lima"][at % 3] }));
const columns = [
  { title: "Name", dataIndex: "name", sorter: (a, b) => a.name.localeCompare(b.name) },
  { title: "Age", dataIndex: "age", sorter: (a, b) => a.age - b.age },
  { title: "City", dataIndex: "city", filters: ["Rome", "Oslo", "Lima"].map((text) => ({ text, value: text })) },
  { title: "State", render: (_, row) => <Tag color={row.age > 25 ? "green" : "red"}>{row.age > 25 ? "open" : "done"}</Tag> },
  { title: "Action", render: (_, row) => <Space><a>Edit {row.key}</a><a>Delete</a></Space> },
];
const folders = [{ title: "Fruit", key: "f", children: [{ title: "Apples", key: "a" }, { title: "Pears", key: "p" }] }];

function App() {
  return <main>
    <Menu mode="horizontal" items={["Home", "People", "Reports"].map((label) => ({ key: label, label }))} selectedKeys={["People"]} />
    <Alert type="warning" showIcon closable message="The list is not saved" />
    <Form layout="vertical">
      <Form.Item label="Name" name="name" rules={[{ required: true }]}><Input placeholder="Full name" /></Form.Item>
      <Form.Item label="Age" name="age"><InputNumber min={0} max={120} /></Form.Item>
      <Form.Item label="City" name="city"><Select options={["Rome", "Oslo", "Lima"].map((value) => ({ value, label: value }))} placeholder="Choose" /></Form.Item>
      <Form.Item label="Born" name="born"><DatePicker /></Form.Item>
      <Form.Item label="Plan" name="plan"><Radio.Group options={["Free", "Paid"]} /></Form.Item>
      <Form.Item label="Volume" name="volume"><Slider defaultValue={30} /></Form.Item>
      <Form.Item label="Stars" name="stars"><Rate /></Form.Item>
      <Form.Item name="terms"><Checkbox>I agree</Checkbox></Form.Item>
      <Form.Item label="Active" name="active"><Switch defaultChecked /></Form.Item>
      <Button type="primary" htmlType="submit">Save</Button> <Button danger>Reset</Button>
    </Form>
    <Tabs items={["One", "Two"].map((label) => ({ key: label, label, children: `Content of ${label}` }))} />
    <Tree treeData={folders} defaultExpandAll checkable />
    <Table rowSelection={{}} dataSource={rows} columns={columns} pagination={{ pageSize: 8 }} />
    <Pagination total={50} />
  </main>;
}
createRoot(document.getElementById("root")).render(<App />);
