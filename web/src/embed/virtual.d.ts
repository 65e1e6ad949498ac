declare module "virtual:icons" {
  const icons: Readonly<Record<string, string>>;
  export default icons;
}
